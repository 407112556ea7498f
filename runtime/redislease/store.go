// Package redislease keeps leases in Redis, for services that pass [New] to
// idem.WithLeases. A lease is a hash under the name idem:<database>:<consumer>:<key>, where the
// database is told by its id. It is changed only by a script that finds it as its owner and token
// say.
//
//	(none) --Acquire--> p --Record--> d, which stays until its time to be kept is over
//	                   |  ^
//	                   v  |
//	                 i     f
//
// A Redis that lost what it knew is a Redis without leases: calls that were under way, or whose
// events the ledger has not passed, are made again then. So the proof that an event had its effect
// is its key in Postgres, which is asked first.
//
// It must not import any package of this module but lease and wire, and no other package that
// a service links imports go-redis.
package redislease

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Store is a [lease.Store] and a [lease.Checker] in Redis 6.2 or later, as a single server, behind
// Sentinel, or as a Cluster. It draws no tokens: each Ask brings one.
type Store struct{ client redis.UniversalClient }

// New returns a store that asks by a client, which is closed by the caller, after the consumer's
// Run has returned.
func New(client redis.UniversalClient) *Store { return &Store{client} }

var errToken = errors.New("redislease: an ask brings no token")

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

// which runs a script that tells whether a lease was held.
func (s *Store) which(ctx context.Context, of *redis.Script, calls []call) ([]bool, error) {
	held := make([]bool, len(calls))
	return held, s.run(ctx, of, calls, func(i int, r *reply) { held[i] = r.held() })
}

func hold(h *lease.Hold) []any { return []any{h.Owner.String(), h.Token} }

// name is the hash of a lease. Nothing in it is a hash tag, so that a Cluster spreads them.
func name(consumer string, k wire.Key) string { return "idem:" + consumer + ":" + k.String() }
