package idemtest

import (
	"time"

	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// MoveClock moves this process's clock ahead of the machine's by d, back if it is negative,
// for every consumer of it: wherever the runtime compares it with the database's. For
// programs that test that clocks decide nothing.
func MoveClock(d time.Duration) { fault.MoveClock(d) }
