package effect

import (
	"context"
	"runtime"
	"sync"
)

// gather batches the requests of several goroutines: while one batch is in flight, the next
// requests are collected.
type gather[Q, A any] struct {
	send func(context.Context, []Q) ([]A, error)

	mu      sync.Mutex
	waiting []asked[Q, A]
	sending bool
}

type asked[Q, A any] struct {
	ctx   context.Context
	q     Q
	reply chan answered[A]
}

type answered[A any] struct {
	a   A
	err error
}

// do makes a request, and waits for its answer. The first goroutine also sends the requests that
// arrive while it is sending.
func (g *gather[Q, A]) do(ctx context.Context, q Q) (A, error) {
	mine := asked[Q, A]{ctx, q, make(chan answered[A], 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, mine)
	first := !g.sending
	g.sending = true
	g.mu.Unlock()
	if first {
		go g.run()
	}
	r := <-mine.reply
	return r.a, r.err
}

// run sends batches until no request is left.
func (g *gather[Q, A]) run() {
	for {
		runtime.Gosched() // goroutines that are about to ask go first
		g.mu.Lock()
		batch := g.waiting
		g.waiting = nil
		if len(batch) == 0 {
			g.sending = false
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		g.one(batch)
	}
}

func (g *gather[Q, A]) one(batch []asked[Q, A]) {
	questions := make([]Q, len(batch))
	for i := range batch {
		questions[i] = batch[i].q
	}
	answers, err := g.send(context.WithoutCancel(batch[0].ctx), questions)
	for i := range batch {
		r := answered[A]{err: err}
		if err == nil {
			r.a = answers[i]
		}
		batch[i].reply <- r
	}
}
