package effect

import (
	"context"
	"sync"
)

// gather sends what several goroutines ask for in the same moment together: while one question is
// on its way, the next ones collect.
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

// do asks one question, and waits for its answer. Who comes first sends for those who come while
// it does.
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

// run sends until nobody waits.
func (g *gather[Q, A]) run() {
	for {
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
