package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// life is the time from a take-over until the partition is given up, or the memory discarded.
type life struct {
	began   time.Time
	forward time.Time // when the owner last moved forward

	// quit ends when the partition is given up: no further transaction begins. whole ends when the
	// last transaction must also end.
	quit, whole   context.Context
	giveUp, abort context.CancelFunc
	idle          chan struct{}         // contains a token while the owner is not in use
	wanted        atomic.Int64          // number of callers that wait for it
	over          atomic.Pointer[error] // why the life has ended
}

func newLife() *life {
	l := &life{began: time.Now(), idle: make(chan struct{}, 1)}
	l.whole, l.abort = context.WithCancel(context.Background())
	l.quit, l.giveUp = context.WithCancel(l.whole)
	l.idle <- struct{}{}
	return l
}

// end ends the life. The first reason is kept.
func (l *life) end(why error) {
	l.over.CompareAndSwap(nil, &why)
	l.abort()
}

// begin waits until the owner is not in use, and reserves it; rest releases it.
func (l *life) begin(ctx context.Context) error {
	l.wanted.Add(1)
	defer l.wanted.Add(-1)
	select {
	case <-l.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *life) rest() { l.idle <- struct{}{} }

// atRest waits until the owner is no longer in use, and reserves it permanently. It reports
// whether that succeeded in time.
func (l *life) atRest(wait time.Duration) bool {
	select {
	case <-l.idle:
		return true
	default:
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-l.idle:
		return true
	case <-t.C:
		return false
	}
}
