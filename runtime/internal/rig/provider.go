package rig

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/memlease"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Provider is what effects call: it counts the calls of each row, and answers with a number that
// no other call gets.
type Provider struct {
	mu    sync.Mutex
	calls map[int32]int
	n     int32
	Key   idem.Key                                            // of the last call
	Call  func(ctx context.Context, row int32, nth int) error // before it answers; or nil
}

// Effect is the effect of a spec.
func (p *Provider) Effect(ctx context.Context, row int32) (int32, error) {
	p.mu.Lock()
	if p.calls == nil {
		p.calls = map[int32]int{}
	}
	p.calls[row]++
	p.n++
	nth, answer := p.calls[row], p.n
	if d, ok := idem.DeliveryFrom(ctx); ok {
		p.Key = d.Key
	}
	p.mu.Unlock()
	if p.Call != nil {
		if err := p.Call(ctx, row, nth); err != nil {
			return 0, err
		}
	}
	return answer, nil
}

// Count is how many calls there were for a row.
func (p *Provider) Count(row int32) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[row]
}

// Terms are those of an effect whose calls may be repeated.
var Terms = wire.EffectTerms{Lease: time.Second, Timeout: 5 * time.Second, Keep: time.Hour}

// Interrupts are [Terms] of an effect that interrupts if the outcome of a call is unknown.
var Interrupts = wire.EffectTerms{Lease: time.Second, Timeout: 5 * time.Second, Keep: time.Hour, Interrupts: true}

// Service is a spec with the effect.
func (p *Provider) Service(terms wire.EffectTerms) Service {
	return Service{Effect: p.Effect, Terms: terms, Policy: Impatient}
}

// Leases are the leases as "state state", in the order of their tokens.
func Leases(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return Query(t, db, `SELECT coalesce(string_agg(state::text, ' ' ORDER BY fence), '') FROM idem_lease`)
}

// ServiceWith is [Provider.Service] with leases in a store.
func (p *Provider) ServiceWith(store lease.Store, terms wire.EffectTerms) Service {
	s := p.Service(terms)
	s.Options = []idem.Option{idem.WithLeases(store)}
	return s
}

// OutsideStates are the leases of a store as letters, sorted.
func OutsideStates(store *memlease.Store) string {
	counts := map[lease.State]int{}
	for _, s := range store.States("test") {
		counts[s]++
	}
	var out []string
	for _, s := range []lease.State{lease.Completed, lease.Done, lease.Failed, lease.Interrupted, lease.Processing} {
		for range counts[s] {
			out = append(out, string(s))
		}
	}
	return strings.Join(out, " ")
}
