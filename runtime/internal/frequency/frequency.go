// Package frequency tells how often something happens: how many log lines of a kind may be
// written, and how many events there were within an hour. It decides nothing else. It must not
// import any other package of this module.
package frequency

import (
	"slices"
	"sync"
	"time"
)

// Throttle lets 10 lines pass in 10 seconds and counts the others.
type Throttle struct {
	mu     sync.Mutex
	since  time.Time
	passed int
	held   int
}

const (
	throttleLines  = 10
	throttlePeriod = 10 * time.Second
)

// Pass reports whether a line may be written, and how many were held back before it.
func (t *Throttle) Pass(now time.Time) (ok bool, held int) {
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

// Hour counts what happened within the last hour.
type Hour struct {
	mu sync.Mutex
	at []time.Time
}

// Count adds one more and returns how many there were.
func (h *Hour) Count(now time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = slices.DeleteFunc(append(h.at, now), func(t time.Time) bool { return now.Sub(t) > time.Hour })
	return len(h.at)
}
