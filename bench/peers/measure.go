package main

import (
	"context"
	"fmt"
	"time"
)

// took says how long records took to reach the database, those of the first batches apart.
type took struct {
	Records int64
	Seconds float64
}

// measure waits until all records are in the database.
func (c *consumer) measure(ctx context.Context, records int64) (took, error) {
	var begun time.Time
	var before int64
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		select {
		case err := <-c.failed:
			return took{}, err
		case <-ctx.Done():
			return took{}, fmt.Errorf("after %d of %d records: %w", c.applied.Load(), records, context.Cause(ctx))
		case <-tick.C:
		}
		applied := c.applied.Load()
		if applied > 0 && begun.IsZero() {
			begun, before = time.Now(), applied
		}
		if applied >= records {
			return took{Records: records - before, Seconds: time.Since(begun).Seconds()}, nil
		}
	}
}
