package idem

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/generation"
)

// Upkeep runs the upkeep of the consumer's tables once.
func (c *Consumer) Upkeep(ctx context.Context) error { return c.upkeep.Once(ctx) }

// UpkeepEvery shortens the time between two runs of the upkeep in [Consumer.Run].
func (c *Consumer) UpkeepEvery(d time.Duration) { c.interval = d }

// TransactionsEnd shortens how long the upkeep thinks that a transaction may run.
func (c *Consumer) TransactionsEnd(d time.Duration) { c.upkeep.Transaction = d }

// LimitFilters replaces the memory limit of filters.
func (c *Consumer) LimitFilters(bytes int64) {
	c.filters = generation.NewFilters(c.service.Consumer, bytes, c.upkeepSession, c.log)
}

// Races makes the writer read the open generation before its next batches.
func (w *Writer) Races() {
	for range 10 {
		w.owner.pace.Raced()
	}
}
