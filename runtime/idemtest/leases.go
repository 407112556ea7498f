package idemtest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/lease"
)

// LeaseStore is a store of leases outside of Postgres whose fields tests can read and set, to
// simulate time and operators. docs/effects.md lists the fields.
type LeaseStore interface {
	lease.Store
	Fields(ctx context.Context, consumer string, key idem.Key) (map[string]string, error)
	SetFields(ctx context.Context, consumer string, key idem.Key, to map[string]string) error
}

// Leases returns a store whose leases a scenario can change. Generated tests use it for services
// whose leases are outside of Postgres.
func Leases(in LeaseStore) lease.Store { return &watchedLeases{in} }

// watchedLeases reports each lease that was requested to the scenario of the context.
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

// holds are the leases that all processes of a scenario have acquired in a store outside of
// Postgres.
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

// change sets fields of all leases and locks in a state, and returns the previous fields of the
// leases.
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

// of returns the lock with this name and key that was acquired outside of Postgres, and false if
// there is none. The stored name begins with the id of the database.
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

// stateOf returns the state of the lease of a key; "" if none was acquired.
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
