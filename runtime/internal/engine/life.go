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

	// quit ends when the partition is given up: no further transaction is begun. whole ends
	// when its last transaction must end, too.
	quit, whole   context.Context
	giveUp, abort context.CancelFunc
	idle          chan struct{}         // holds a token while nothing uses the owner
	wanted        atomic.Int64          // how many wait for it
	over          atomic.Pointer[error] // why it is no more
}

func newLife() *life {
	l := &life{began: time.Now(), idle: make(chan struct{}, 1)}
	l.whole, l.abort = context.WithCancel(context.Background())
	l.quit, l.giveUp = context.WithCancel(l.whole)
	l.idle <- struct{}{}
	return l
}

// end ends it; the first reason stays.
func (l *life) end(why error) {
	l.over.CompareAndSwap(nil, &why)
	l.abort()
}

// begin waits until nothing uses the owner; rest says that nothing uses it any more.
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

// atRest waits until nothing uses the owner, for good, and reports whether that was so in time.
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
