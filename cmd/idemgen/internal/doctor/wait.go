package doctor

import (
	"fmt"
	"strings"
	"sync"
)

// LockWait is why a statement of a command does not end.
type LockWait struct {
	On       string   // what is locked
	Sessions []string // that hold the lock, or wait for it before this one
}

func (w *LockWait) Error() string {
	return fmt.Sprintf("a statement waits for a lock on %s, which another session holds or waits for: %s", w.On, strings.Join(w.Sessions, "; "))
}

// Waits is what the last statement that was given up waited for.
type Waits struct {
	mu   sync.Mutex
	last *LockWait
}

// Found takes what a statement waits for, and gives the statement up.
func (w *Waits) Found(wait *LockWait) (giveUp bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = wait
	return true
}

// take returns what it is, once; nil is nothing.
func (w *Waits) take() (wait *LockWait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait, w.last = w.last, nil
	return wait
}
