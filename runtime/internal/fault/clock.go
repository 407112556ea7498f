package fault

import (
	"sync/atomic"
	"time"
)

// ahead is how far this process's clock is off.
var ahead atomic.Int64

// MoveClock moves this process's clock, as far as the runtime reads it to compare it with
// the database's, ahead of the machine's by d.
func MoveClock(d time.Duration) { ahead.Store(int64(d)) }

// Now is what the process's clock says.
func Now() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
