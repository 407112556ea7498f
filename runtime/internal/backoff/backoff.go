// Package backoff says how long to wait before the next try, and waits. It must not import any
// other package of this module.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// The pauses between tries that no spec sets.
const (
	Initial = 100 * time.Millisecond
	Most    = 5 * time.Second
)

// Pause is the pause before attempt n+1: exponential, with jitter down to half of it.
func Pause(n int, initial, most time.Duration) time.Duration {
	d := initial
	for range n - 1 {
		if d >= most {
			break
		}
		d *= 2
	}
	d = min(d, most)
	return d/2 + rand.N(d/2+1)
}

// Sleep waits for d and reports false if ctx ended before.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
