package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/notify"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Effects makes the calls outside of Postgres that are the effects of events. Package effects
// provides it, so services without effects do not link it.
type Effects interface {
	// Statements are prepared on every connection.
	Statements() []session.Statement
	// Of returns the calls of a process.
	Of(Caller) Calls
}

// Caller is a process that makes calls.
type Caller struct {
	Consumer string
	Who      string // names the process, for operators
	Pool     *pool.Pool
	Now      func() time.Time // the process's clock
	Leases   lease.Store      // outside of Postgres; nil if there are none
	Most     int              // calls at the same time
	Log      *slog.Logger
	Hooks    *notify.Hooks
}

// Calls are the calls of a process.
type Calls interface {
	// Desk returns the desk of an owner.
	Desk(DeskOwner) Desk
	// Complete returns the statements that complete the leases of results, in the transaction that
	// writes the rows that depend on them.
	Complete(results []wire.EffectResult) []pipeline.Statement
	// Token returns the highest fencing token that this process knows; 0 if it knows none.
	Token() int64
	// Know says that a token was drawn, by whatever process: a call gets a greater one.
	Know(token int64)
	// Stats counts the calls of this process.
	Stats() idemtype.CallStats
	// Late returns the calls that are still running although their context has ended. Their leases
	// stay held, even if their partitions have another owner.
	Late() []idemtype.Problem
	// Wait waits until no call is running, or until ctx is done.
	Wait(ctx context.Context)
}

// DeskOwner is the owner of a partition, as its desk sees it.
type DeskOwner struct {
	Partition idemtype.Partition
	Quit      context.Context  // done when the owner's life ends
	Topic     func() wire.UUID // the topic's id; called when an effect begins
	// Gone returns below which offset calls may have been made by commits that are gone, and below
	// which number operators' decisions. It is called when an effect begins.
	Gone func() (lostTo, lostFence int64)
	// Began is called, on any goroutine, before a call is made, with the offset after its record.
	Began func(next int64)
	// Elsewhere returns what a call that must not be repeated waits for, to follow "waits for": its
	// event may be a copy of one that was called by a commit that is gone. "" means nothing.
	Elsewhere func(context.Context) (string, error)
	// Tell is called with the reason why effects wait: the store cannot be queried, or calls fail.
	Tell func(error)
}

// Desk manages the effects of the records that one owner of a partition has not yet applied.
type Desk interface {
	// Start begins the effects of records, unless they have begun already. Effects with the same
	// record key run one after another, in the order of the records. by is an operator's decision
	// about them.
	Start(ctx context.Context, waiting []wire.Effect, by lease.Decision)
	// Outcomes returns the known outcomes of effects: results by the offset of the record, and
	// records that must become dead letters.
	Outcomes() (map[int64]wire.EffectResult, []deadletter.Letter)
	// Why returns what the effect of a record waits for, to follow "waits for". It returns "" if
	// its call is running or has ended, or if it waits because calls fail, which tell reports.
	Why(offset int64) string
	// Runs reports whether the effect of a record has begun and not yet ended.
	Runs(offset int64) bool
	// Done returns a channel that is closed once the effect of a record has an outcome; nil if it
	// has not begun.
	Done(offset int64) <-chan struct{}
	// Wait waits until the effect of a record has an outcome. It returns an error if no later
	// record may be applied before this one succeeds.
	Wait(ctx context.Context, offset int64) error
	// Passed drops the records below next, which have been applied.
	Passed(next int64)
	// Reset drops all known outcomes: the store will be queried again.
	Reset()
	// Forget drops some of the known outcomes.
	Forget(which func(offset int64) bool)
	// Withdraw drops some effects. An effect whose call is running ends after that call.
	Withdraw(which func(offset int64) bool)
}
