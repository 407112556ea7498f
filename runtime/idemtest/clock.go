package idemtest

import (
	"time"

	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// MoveClock shifts the clock of all consumers in this process by d against the machine's clock,
// wherever the runtime compares it with the database's clock. It is for programs that test that no
// decision depends on clocks.
func MoveClock(d time.Duration) { fault.MoveClock(d) }
