package effect

import (
	"context"
	"sync"
)

// running counts goroutines. Unlike a sync.WaitGroup, it may be waited for while others begin: the
// end of a run may be so late that the next one has begun.
type running struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is 0 again; nil unless somebody waits
}

// Go runs f on a goroutine of its own.
func (r *running) Go(f func()) {
	r.mu.Lock()
	r.n++
	r.mu.Unlock()
	go func() {
		defer r.end()
		f()
	}()
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n--; r.n == 0 && r.none != nil {
		close(r.none)
		r.none = nil
	}
}

// Wait waits until there are none, or until ctx is done.
func (r *running) Wait(ctx context.Context) {
	r.mu.Lock()
	if r.n == 0 {
		r.mu.Unlock()
		return
	}
	if r.none == nil {
		r.none = make(chan struct{})
	}
	none := r.none
	r.mu.Unlock()
	select {
	case <-none:
	case <-ctx.Done():
	}
}
