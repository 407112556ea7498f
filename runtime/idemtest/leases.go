package idemtest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/lease"
)

// LeaseStore is a store of leases outside of Postgres that lets scenarios do what time and
// operators do to a lease: it shows and sets the fields that docs/effects.md names.
type LeaseStore interface {
	lease.Store
	Fields(ctx context.Context, consumer string, key idem.Key) (map[string]string, error)
	SetFields(ctx context.Context, consumer string, key idem.Key, to map[string]string) error
}

// Leases is a store whose leases a scenario can change. Generated tests give it to a service with
// effects that have their leases outside of Postgres.
func Leases(in LeaseStore) lease.Store { return &watchedLeases{in} }

// watchedLeases reports each request, and its lease, to the scenario whose context it has.
type watchedLeases struct{ LeaseStore }

// Acquire implements [lease.Store].
func (w *watchedLeases) Acquire(ctx context.Context, consumer string, asks []lease.Ask) ([]lease.Answer, error) {
	answers, err := w.LeaseStore.Acquire(ctx, consumer, asks)
	if f, ok := ctx.Value(effectsKey{}).(*effects); ok && err == nil {
		for i := range asks {
			if answers[i].Got {
				f.leases.got(held{w.LeaseStore, consumer, asks[i].Key})
			}
		}
	}
	return answers, err
}

// holds are the leases that were got in a store outside of Postgres, by all processes of a
// scenario.
type holds struct {
	mu  sync.Mutex
	all []held
}

type held struct {
	in       LeaseStore
	consumer string
	key      idem.Key
}

func (h *holds) got(l held) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.all, l) {
		h.all = append(h.all, l)
	}
}

// change changes fields of the leases, and of the locks, that are in a state. It returns what the
// leases were.
func (h *holds) change(b database, state lease.State, to map[string]string) (were []map[string]string) {
	b.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.all {
		is, err := l.in.Fields(b.t.Context(), l.consumer, l.key)
		if err == nil && is["state"] == string(state) {
			if !strings.Contains(l.consumer, ":"+lease.Locks("")) {
				were = append(were, is)
			}
			err = l.in.SetFields(b.t.Context(), l.consumer, l.key, to)
		}
		if err != nil {
			b.t.Fatalf("idemtest: change a lease: %v", err)
		}
	}
	return were
}

// of is the lock of a name that was got outside of Postgres; false if none was. The name there
// begins with the id of the database.
func (h *holds) of(locks string, key idem.Key) (l held, outside bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.all {
		if strings.HasSuffix(l.consumer, ":"+locks) && l.key == key {
			return l, true
		}
	}
	return held{}, false
}

// stateOf is the state of the lease of a key; "" if none was got.
func (h *holds) stateOf(b database, key idem.Key) string {
	b.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.all {
		if l.key == key {
			is, err := l.in.Fields(b.t.Context(), l.consumer, l.key)
			if err != nil {
				b.t.Fatalf("idemtest: read a lease: %v", err)
			}
			return is["state"]
		}
	}
	return ""
}
