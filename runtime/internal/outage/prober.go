// Package outage handles outages of the database: it describes the cause in words, and detects,
// once for all waiting partitions, when the database is back.
//
//	       work fails        Wait
//	owner ------------> prober ----> Try, Try, Try ... succeeds: all who wait go on
//
// However many partitions wait, it tries one connection at a time: the first immediately, then
// with short pauses. So a server that starts is detected soon, and is not flooded with
// connections. The package does not decide whether an error is an outage, nor its consequences. It
// must not import any package of this module but backoff.
package outage

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
)

// Prober tries to connect while there are waiting callers.
type Prober struct {
	// Try connects and releases the connection.
	Try func(ctx context.Context) error

	mu    sync.Mutex
	round *round // nil while no caller waits
}

// round is a series of tries until one succeeds, or no caller waits.
type round struct {
	waiting int
	back    chan struct{} // closed when a try succeeded
	failed  chan struct{} // closed when one failed, and replaced
	err     error         // of the last try
	stop    context.CancelFunc
}

const (
	firstPause = 50 * time.Millisecond
	mostPause  = time.Second
	patience   = 5 * time.Second // for one try
)

// Wait returns nil when a try has succeeded, or the error of ctx if that ends first. It calls tell
// with the error of each try that fails.
func (p *Prober) Wait(ctx context.Context, tell func(error)) error {
	r, failed := p.join()
	defer p.leave(r)
	for {
		select {
		case <-r.back:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-failed:
		}
		p.mu.Lock()
		err := r.err
		failed = r.failed
		p.mu.Unlock()
		tell(err)
	}
}

func (p *Prober) join() (r *round, failed chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.round == nil {
		ctx, stop := context.WithCancel(context.Background())
		p.round = &round{back: make(chan struct{}), failed: make(chan struct{}), stop: stop}
		go p.probe(ctx, p.round)
	}
	p.round.waiting++
	return p.round, p.round.failed
}

func (p *Prober) leave(r *round) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.waiting--; r.waiting == 0 {
		r.stop()
		if p.round == r {
			p.round = nil
		}
	}
}

func (p *Prober) probe(ctx context.Context, r *round) {
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		err := p.try(ctx)
		if ctx.Err() != nil || p.tried(r, err) || !backoff.Sleep(ctx, pause/2+rand.N(pause/2)) {
			return
		}
	}
}

// tried notifies the waiting callers of the result of a try, and reports whether the round has
// ended.
func (p *Prober) tried(r *round, err error) (over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		r.err = err
		close(r.failed)
		r.failed = make(chan struct{})
		return false
	}
	if p.round == r {
		p.round = nil
	}
	close(r.back)
	return true
}

func (p *Prober) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.Try(ctx)
}
