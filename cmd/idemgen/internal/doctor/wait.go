package doctor

import (
	"sync"

	"github.com/idemgen/idemgen/internal/operate"
)

// Waits is what the last statement that was given up waited for.
type Waits struct {
	mu   sync.Mutex
	last *operate.Lock
}

// Found takes what a statement waits for, and gives the statement up.
func (w *Waits) Found(wait *operate.Lock) (giveUp bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = wait
	return true
}

// take returns what it is, once; nil is nothing.
func (w *Waits) take() (wait *operate.Lock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait, w.last = w.last, nil
	return wait
}
