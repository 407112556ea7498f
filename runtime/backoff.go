package idem

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
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

// throttle lets 10 lines pass in 10 seconds and counts the others.
type throttle struct {
	mu     sync.Mutex
	since  time.Time
	passed int
	held   int
}

const (
	throttleLines  = 10
	throttlePeriod = 10 * time.Second
)

// pass reports whether a line may be written, and how many were held back before it.
func (t *throttle) pass(now time.Time) (ok bool, held int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.since) >= throttlePeriod {
		t.since, t.passed = now, 0
	}
	if t.passed == throttleLines {
		t.held++
		return false, 0
	}
	t.passed++
	held, t.held = t.held, 0
	return true, held
}

// hour counts what happened within the last hour.
type hour struct {
	mu sync.Mutex
	at []time.Time
}

// count adds one more and returns how many there were.
func (h *hour) count(now time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = slices.DeleteFunc(append(h.at, now), func(t time.Time) bool { return now.Sub(t) > time.Hour })
	return len(h.at)
}
