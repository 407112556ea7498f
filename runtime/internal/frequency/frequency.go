// Package frequency limits what is said: how many log lines of a kind are written, and whether a
// text says anything new. It also counts events within an hour. It decides nothing else. It must
// not import any other package of this module.
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

// Pass reports whether a line may be written, and how many lines were omitted before it.
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

// Hour counts events within the last hour.
type Hour struct {
	mu sync.Mutex
	at []time.Time
}

// Count adds one event and returns how many there were.
func (h *Hour) Count(now time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = slices.DeleteFunc(append(h.at, now), func(t time.Time) bool { return now.Sub(t) > time.Hour })
	return len(h.at)
}
