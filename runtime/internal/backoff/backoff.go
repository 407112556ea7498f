// Package backoff says how long to wait before the next try. It waits for nobody itself. It
// must not import any other package of this module.
package backoff

import (
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
