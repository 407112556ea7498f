package engine

import (
	"context"
	"log/slog"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/notify"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Effects makes the calls outside of Postgres that events have as their effect. Package effects
// has it: services without effects do not link it.
type Effects interface {
	// Statements are prepared on every connection.
	Statements() []session.Statement
	// Of returns the calls of a process.
	Of(Caller) Calls
}

// Caller is a process that makes calls.
type Caller struct {
	Consumer string
	Who      string // names the process, for people
	Pool     *pool.Pool
	Leases   lease.Store // outside of Postgres; nil if there are none
	Most     int         // calls at the same time
	Log      *slog.Logger
	Hooks    *notify.Hooks
}

// Calls are the calls of a process.
type Calls interface {
	// Desk returns the desk of an owner, who gives up when quit ends. topic is asked for the
	// topic's id when an effect begins. tell hears why effects wait: the store cannot be asked, or
	// calls fail.
	Desk(of idemtype.Partition, topic func() wire.UUID, quit context.Context, tell func(error)) Desk
	// Complete are the statements that complete the leases on which rows rest, with these rows.
	Complete(results []wire.EffectResult) []pipeline.Statement
	// Stats counts the calls of this process.
	Stats() idemtype.CallStats
	// Late are the calls that still run although their context has ended: their leases are held,
	// whoever owns their partitions now.
	Late() []idemtype.Problem
	// Wait waits until no call runs any more, or ctx has ended.
	Wait(ctx context.Context)
}

// Desk has the effects of the records that one owner of a partition has not passed yet.
type Desk interface {
	// Start begins effects of records, unless they were begun before. Those of one record key run
	// one after the other, in the order of the records. by is what a person decided about them.
	Start(ctx context.Context, waiting []wire.Effect, by lease.Decision)
	// Outcomes are what is known of effects: results by the offset of the record, and records that
	// must become dead letters.
	Outcomes() (map[int64]wire.EffectResult, []deadletter.Letter)
	// Why says what the effect of a record waits for, after "waits for"; "" if its call runs, or
	// it is over, or it waits because calls fail, which tell says.
	Why(offset int64) string
	// Runs reports whether the effect of a record has begun and is not over.
	Runs(offset int64) bool
	// Wait waits until the effect of a record has an outcome, and returns the error that lets
	// nothing go on after it, if that is its outcome.
	Wait(ctx context.Context, offset int64) error
	// Passed forgets the records below next.
	Passed(next int64)
	// Reset forgets what is known of all effects that are over: the store is asked again.
	Reset()
	// Forget forgets what is known of some effects that are over.
	Forget(which func(offset int64) bool)
	// Withdraw forgets some effects. One that is not over ends after its call, if there is one.
	Withdraw(which func(offset int64) bool)
}
