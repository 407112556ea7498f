package idem

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is the pause before attempt n+1: exponential, with jitter down to half of it.
func backoff(n int, initial, most time.Duration) time.Duration {
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

// sleep waits for d and reports false if ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
