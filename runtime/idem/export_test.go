package idem

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/generation"
)

// WithClock sets this process's clock.
func WithClock(now func() time.Time) Option { return func(s *settings) { s.now = now } }

// Upkeep runs the upkeep of the consumer's tables once.
func (c *Consumer) Upkeep(ctx context.Context) error { return c.upkeep.Once(ctx) }

// UpkeepEvery shortens the time between two runs of the upkeep in [Consumer.Run].
func (c *Consumer) UpkeepEvery(d time.Duration) { c.interval = d }

// ReportEvery changes the time between two reports without a change.
func (c *Consumer) ReportEvery(d time.Duration) { c.reports = d }

// TransactionsEnd shortens how long the upkeep thinks that a transaction may run.
func (c *Consumer) TransactionsEnd(d time.Duration) { c.upkeep.Transaction = d }

// LimitFilters replaces the memory limit of filters.
func (c *Consumer) LimitFilters(bytes int64) {
	p := c.process
	p.Keys.Filters = generation.NewFilters(c.service.Consumer, bytes, p.Pool.Background, c.settings.log)
}

// KeyMemoryUsed is how many bytes all writers of the consumer use for keys.
func (c *Consumer) KeyMemoryUsed() int64 { return c.process.Keys.Budget.Used() }

// Own takes over a partition and returns a writer for it. A partition without a ledger starts at
// offset start.
func (c *Consumer) Own(ctx context.Context, topic string, partition int32, start int64) (*Writer, error) {
	o, err := c.own(ctx, Partition{Topic: topic, Number: partition}, start)
	if err != nil {
		return nil, err
	}
	return &Writer{o}, nil
}

// Close closes the connections that the runtime opened.
func (c *Consumer) Close() { c.close() }

// Writer applies records to one partition.
type Writer struct{ owner *engine.Owner }

// Next is the offset of the next record to apply.
func (w *Writer) Next() int64 { return w.owner.Next() }

// Apply applies records in offset order.
func (w *Writer) Apply(ctx context.Context, records []Message) (Result, error) {
	return w.owner.Apply(ctx, records)
}

// State is the state of the writer's partition in the protocol's table.
func (w *Writer) State() protocol.State { return w.owner.State() }

// LookAgain has the writer look with its next batch for what operators ask.
func (w *Writer) LookAgain() { w.owner.LookAtOnce() }

// Attempts is how many appends of the writer may have committed unseen.
func (w *Writer) Attempts() int { return w.owner.Chain().Open() }

// Tail is the row up to which the writer's memory goes, and the first row whose keys it holds.
func (w *Writer) Tail() (token UUID, window, seq int64) {
	tail := w.owner.Chain().Tail()
	return tail.Token, tail.Window, tail.Seq
}

// Races makes the writer read the open generation before its next batches.
func (w *Writer) Races() {
	for range 10 {
		w.owner.Keys().Raced(&pgconn.PgError{Code: "23505"})
	}
}

// Knows tells what the memory of the chain's keys says of one.
func (w *Writer) Knows(key Key) (print, def uint32, ok bool) { return w.owner.Keys().Find(key) }

// Keys is how many keys of the chain the memory holds.
func (w *Writer) Keys() int { return w.owner.Keys().Len() }

// DecisionAllocations is how many allocations the decision of a batch takes that is not sent.
func (w *Writer) DecisionAllocations(records []Message) float64 {
	return testing.AllocsPerRun(20, func() { _, _ = w.owner.Decide(records, w.owner.Keys().Known(keys.Place{})) })
}
