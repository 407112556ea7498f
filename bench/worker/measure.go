package main

import (
	"errors"
	"fmt"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
)

// took says how long records took to be applied, those of the first batches apart.
type took struct {
	Records int64
	Seconds float64
}

// measure waits until all records are applied.
func measure(c *idem.Consumer, records int64, done <-chan error) (took, error) {
	var begun time.Time
	var before int64
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		select {
		case err := <-done:
			return took{}, errors.Join(fmt.Errorf("the consumer ended after %d of %d records", c.Stats().Applied, records), err)
		case <-tick.C:
		}
		s := c.Stats()
		if s.Dead+s.Conflicts > 0 {
			return took{}, fmt.Errorf("%d dead letters", s.Dead+s.Conflicts)
		}
		passed := s.Applied + s.Resent // Resent has no effect, but is passed
		if passed > 0 && begun.IsZero() {
			begun, before = time.Now(), passed
		}
		if passed >= records {
			return took{Records: records - before, Seconds: time.Since(begun).Seconds()}, nil
		}
	}
}
