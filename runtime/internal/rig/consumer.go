package rig

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/door"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/generation"
)

// Consumer is a consumer, and what package idem opens to this module only.
type Consumer struct{ *idem.Consumer }

// WithClock sets the clock of this process, for one consumer.
func WithClock(now func() time.Time) idem.Option { return door.Clock(now).(idem.Option) }

// Own takes over a partition and returns a writer for it. A partition without a ledger starts at
// offset start.
func (c *Consumer) Own(ctx context.Context, topic string, partition int32, start int64) (*Writer, error) {
	o, err := door.Own(ctx, c.Consumer, idem.Partition{Topic: topic, Number: partition}, start)
	if err != nil {
		return nil, err
	}
	return &Writer{o}, nil
}

// Close closes the connections that the runtime opened.
func (c *Consumer) Close() { door.Close(c.Consumer) }

// Upkeep runs the upkeep of the consumer's tables once.
func (c *Consumer) Upkeep(ctx context.Context) error {
	_, upkeep := door.Parts(c.Consumer)
	return upkeep.Once(ctx)
}

// TransactionsEnd shortens how long the upkeep assumes that a transaction may run.
func (c *Consumer) TransactionsEnd(d time.Duration) {
	_, upkeep := door.Parts(c.Consumer)
	upkeep.Transaction = d
}

// LimitFilters replaces the memory limit of filters.
func (c *Consumer) LimitFilters(bytes int64) {
	p, _ := door.Parts(c.Consumer)
	p.Keys.Filters = generation.NewFilters(p.Service.Consumer, bytes, p.Pool.Background, p.Log)
}

// KeyMemoryUsed is how many bytes all writers of the consumer use for keys.
func (c *Consumer) KeyMemoryUsed() int64 {
	p, _ := door.Parts(c.Consumer)
	return p.Keys.Budget.Used()
}

// Writer applies records to one partition.
type Writer struct{ owner *engine.Owner }

// Next is the offset of the next record to apply.
func (w *Writer) Next() int64 { return w.owner.Next() }

// Apply applies records in offset order.
func (w *Writer) Apply(ctx context.Context, records []idem.Message) (idem.Result, error) {
	return w.owner.Apply(ctx, records)
}

// State is the state of the writer's partition in the protocol's table.
func (w *Writer) State() protocol.State { return w.owner.State() }

// LookAgain makes the writer look with its next batch for what operators ask.
func (w *Writer) LookAgain() { w.owner.LookAtOnce() }

// Attempts is how many appends of the writer may have committed unseen.
func (w *Writer) Attempts() int { return w.owner.Chain().Open() }

// Tail is the row up to which the writer's memory goes, and the first row whose keys it holds.
func (w *Writer) Tail() (token idem.UUID, window, seq int64) {
	tail := w.owner.Chain().Tail()
	return tail.Token, tail.Window, tail.Seq
}

// Races makes the writer read the open generation before its next batches.
func (w *Writer) Races() {
	for range 10 {
		w.owner.Keys().Raced(&pgconn.PgError{Code: "23505"})
	}
}

// Knows reports what the memory of the chain's keys has for a key.
func (w *Writer) Knows(key idem.Key) (print, def uint32, ok bool) { return w.owner.Keys().Find(key) }

// Keys is how many keys of the chain the memory holds.
func (w *Writer) Keys() int { return w.owner.Keys().Len() }

// DecisionAllocations is how many allocations the decision of a batch takes that is not sent.
func (w *Writer) DecisionAllocations(records []idem.Message) float64 {
	return testing.AllocsPerRun(20, func() { _, _ = w.owner.Decide(records, w.owner.Keys().Known(keys.Place{})) })
}
