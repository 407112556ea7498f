// Package victim is where the harness's own tests plant bugs.
package victim

import (
	"os"
	"syscall"
	"time"
)

// Double is twice n.
func Double(n int) int { return 2 * n }

// Half is half of n. No test asks for it.
func Half(n int) int { return n / 2 }

// What bugs of Double use.
var (
	_ = os.Stat
	_ = syscall.Exit
	_ = time.Sleep
)
