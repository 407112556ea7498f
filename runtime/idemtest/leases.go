package idemtest

import (
	"context"
	"sync"

	"github.com/idemgen/idemgen/runtime/lease"
)

// Leases is a store of leases whose holders a scenario can end, as their time does. Generated
// tests give it to a service with effects that have their leases outside of Postgres.
func Leases(in lease.Store) lease.Store { return &watchedLeases{in} }

// watchedLeases tells the scenario under whose context it is asked who holds what.
type watchedLeases struct{ lease.Store }

// Acquire implements [lease.Store].
func (w *watchedLeases) Acquire(ctx context.Context, consumer string, asks []lease.Ask) ([]lease.Answer, error) {
	answers, err := w.Store.Acquire(ctx, consumer, asks)
	if f, ok := ctx.Value(effectsKey{}).(*effects); ok && err == nil {
		for i := range asks {
			if answers[i].Got {
				f.leases.got(w.Store, consumer, lease.Hold{Key: asks[i].Key, Owner: asks[i].Owner, Token: answers[i].Token})
			}
		}
	}
	return answers, err
}

// holds are the leases that were got in a store outside of Postgres, of all processes of a
// scenario.
type holds struct {
	mu  sync.Mutex
	all []held
}

type held struct {
	in       lease.Store
	consumer string
	lease.Hold
}

func (h *holds) got(in lease.Store, consumer string, l lease.Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, held{in, consumer, l})
}

// end ends them all, and returns how many there were. Those whose calls ended are not held any
// more, and stay as they are.
func (h *holds) end(b *trial) int {
	b.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.all {
		if _, err := l.in.Record(b.t.Context(), l.consumer, []lease.End{{Hold: l.Hold, State: lease.Failed}}); err != nil {
			b.t.Fatalf("idemtest: end a lease: %v", err)
		}
	}
	n := len(h.all)
	h.all = nil
	return n
}
