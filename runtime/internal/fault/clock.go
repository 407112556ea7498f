package fault

import (
	"sync/atomic"
	"time"
)

// ahead is how far this process's clock is shifted.
var ahead atomic.Int64

// MoveClock shifts this process's clock by d ahead of the machine's clock, wherever the runtime
// compares it with the database's clock.
func MoveClock(d time.Duration) { ahead.Store(int64(d)) }

// Now returns the time of the process's clock.
func Now() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
