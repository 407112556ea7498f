// Package redislease stores leases in Redis, for services that pass [New] to idem.WithLeases. A
// lease is a hash called idem:<database>:<consumer>:<key>, where <database> is the id of the
// Postgres database. Only scripts change it, and only if its owner and token are the expected
// ones.
//
//	(none) --Acquire--> p --Record--> d, which is kept until effect.keep has passed
//	                   |  ^
//	                   v  |
//	                 i     f
//
// If Redis loses its data, calls that were running, or whose events have not been committed to the
// ledger, are repeated. The proof that an event took effect is therefore its key in Postgres,
// which is checked first.
//
// It must not import any package of this module but lease and wire. No other package that a
// service links imports go-redis.
package redislease

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Store is a [lease.Store] and a [lease.Checker] in Redis 6.2 or later, as a single server, behind
// Sentinel, or as a Cluster. It does not draw tokens: each Ask must have one.
type Store struct{ client redis.UniversalClient }

// New returns a store that uses client. The caller closes the client after Run of the consumer has
// returned.
func New(client redis.UniversalClient) *Store { return &Store{client} }

var errToken = errors.New("redislease: an Ask has no token")

// Acquire implements [lease.Store].
func (s *Store) Acquire(ctx context.Context, consumer string, asks []lease.Ask) ([]lease.Answer, error) {
	calls := make([]call, len(asks))
	for i := range asks {
		a := &asks[i]
		if a.Token <= 0 {
			return nil, &lease.Broken{Err: errToken}
		}
		args := []any{
			a.Owner.String(), a.Token, a.Term.Microseconds(), a.Interrupts, a.Keep.Microseconds(), a.Content.Def, a.Content.Print, a.Decision.Number, a.Holder,
		}
		if a.Decision.Result != nil {
			args = append(args, a.Decision.Result)
		}
		calls[i] = call{name(consumer, a.Key), args}
	}
	answers := make([]lease.Answer, len(asks))
	return answers, s.run(ctx, acquire, calls, func(i int, r *reply) { answers[i] = r.answer() })
}

// Extend implements [lease.Store].
func (s *Store) Extend(ctx context.Context, consumer string, held []lease.Hold) ([]bool, error) {
	calls := make([]call, len(held))
	for i := range held {
		calls[i] = call{name(consumer, held[i].Key), hold(&held[i])}
	}
	return s.which(ctx, extend, calls)
}

// Record implements [lease.Store].
func (s *Store) Record(ctx context.Context, consumer string, ends []lease.End) ([]bool, error) {
	calls := make([]call, len(ends))
	for i := range ends {
		e := &ends[i]
		args := append(hold(&e.Hold), string(rune(e.State)), e.Error, e.Pause.Microseconds(), e.Attempts)
		if e.Result != nil {
			args = append(args, e.Result)
		}
		calls[i] = call{name(consumer, e.Key), args}
	}
	return s.which(ctx, record, calls)
}

// which runs a script that returns whether a lease was held.
func (s *Store) which(ctx context.Context, of *redis.Script, calls []call) ([]bool, error) {
	held := make([]bool, len(calls))
	return held, s.run(ctx, of, calls, func(i int, r *reply) { held[i] = r.held() })
}

func hold(h *lease.Hold) []any { return []any{h.Owner.String(), h.Token} }

// name returns the name of a lease's hash. It has no hash tag, so a Cluster spreads leases over
// all slots.
func name(consumer string, k wire.Key) string { return "idem:" + consumer + ":" + k.String() }
