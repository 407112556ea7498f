package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

// took says how long records took to be applied, those of the first batches apart.
type took struct {
	Records    int64
	Seconds    float64
	Applied    int64 // all of them
	Goroutines int   // the most that were seen
}

// measure waits until so many records are applied; with 0, until stop is closed.
func measure(c *idem.Consumer, records int64, stop <-chan struct{}, done <-chan error) (took, error) {
	var begun time.Time
	var before int64
	var most int
	ticker := time.NewTicker(10 * time.Millisecond) // often enough for runs of seconds: reading Stats costs CPU time, too
	defer ticker.Stop()
	for stopped := false; ; {
		select {
		case err := <-done:
			return took{}, errors.Join(fmt.Errorf("the consumer ended after %d of %d records", c.Stats().Applied, records), err)
		case <-stop:
			if stop, stopped = nil, true; records > 0 {
				return took{}, errors.New("standard input ended before the records")
			}
		case <-ticker.C:
		}
		most = max(most, runtime.NumGoroutine())
		s := c.Stats()
		if s.Dead+s.Conflicts > 0 {
			return took{}, fmt.Errorf("%d dead letters", s.Dead+s.Conflicts)
		}
		passed := s.Applied + s.Resent // Resent has no effect, but is passed
		if passed > 0 && begun.IsZero() {
			begun, before = time.Now(), passed
		}
		if stopped || records > 0 && passed >= records {
			return took{Records: passed - before, Seconds: time.Since(begun).Seconds(), Applied: s.Applied, Goroutines: most}, nil
		}
	}
}
