package idem

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/door"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
)

func init() {
	door.Effects = func(e engine.Effects) any { return Option(func(s *settings) { s.effects = e }) }
	door.Own = func(ctx context.Context, c any, p Partition, start int64) (*engine.Owner, error) {
		return c.(*Consumer).own(ctx, p, start)
	}
	door.Close = func(c any) { c.(*Consumer).close(); c.(*Consumer).begin() }
	door.Clock = func(now func() time.Time) any { return Option(func(s *settings) { s.now = now }) }
	door.Parts = func(c any) (*engine.Process, *maintain.Job) {
		return c.(*Consumer).process, c.(*Consumer).upkeep
	}
}

// own takes over a partition without a Source. [Consumer.Health] and [Consumer.Stats] do not cover
// it.
func (c *Consumer) own(ctx context.Context, of Partition, start int64) (*engine.Owner, error) {
	c.begin()
	if _, err := c.process.Pool.Open(ctx); err != nil {
		return nil, err
	}
	p, err := engine.NewPartition(c.process, of)
	if err != nil {
		return nil, err
	}
	return p.TakeWithoutBroker(ctx, start)
}

// begin permits what close ended: a consumer may run again.
func (c *Consumer) begin() {
	c.process.Keys.Filters.Open()
	c.process.Pool.Begin()
}

func (c *Consumer) close() {
	c.process.Keys.Filters.Close()
	c.process.Pool.Close()
}
