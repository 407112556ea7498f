package effect

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Postgres is the store in the service's own database. It also draws the tokens for leases in
// another store.
type Postgres interface {
	lease.Store
	// Look draws a token for each key, which exceeds all earlier tokens and known, and reports which
	// of the keys have a lease here. Several keys may get the same token.
	Look(ctx context.Context, consumer string, keys []wire.Key, known int64) (tokens []int64, here []bool, err error)
	// Database returns the id of the database, which is part of the names of leases outside of it.
	Database(ctx context.Context) (string, error)
}

// in names a set of leases: those of a consumer, or the locks of a name.
type in func(context.Context) (consumer string, err error)

// inPostgres returns the set of leases in the service's own database.
func inPostgres(of string) in {
	return func(context.Context) (string, error) { return of, nil }
}

// ofDatabase returns the set of leases in a store that several databases may share.
func ofDatabase(p Postgres, of string) in {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		id, err := p.Database(ctx)
		return id + ":" + of, err
	}
}

// store is a store of leases. Concurrent requests to it are sent together.
type store struct {
	external bool // not the service's own database
	acquire  gather[lease.Ask, lease.Answer]
	extend   gather[lease.Hold, bool]
	record   gather[lease.End, bool]
	outage   *outage
}

// storeTimeout limits the time of one request to a store, which is then retried.
const storeTimeout = 10 * time.Second

// newStore returns a store of leases.
func newStore(of in, s lease.Store, external bool, tokens *highest, down *outage) *store {
	p := &store{external: external, outage: down}
	p.acquire.send = func(ctx context.Context, asks []lease.Ask) ([]lease.Answer, error) {
		above := tokens.Load()
		for i := range asks {
			asks[i].Above = above
		}
		answers, err := eachOnce(asks, func(some []lease.Ask) ([]lease.Answer, error) { return ask(ctx, p, of, s.Acquire, some) })
		for i := range answers {
			tokens.note(answers[i].Token)
		}
		return answers, err
	}
	p.extend.send = func(ctx context.Context, held []lease.Hold) ([]bool, error) { return ask(ctx, p, of, s.Extend, held) }
	p.record.send = func(ctx context.Context, ends []lease.End) ([]bool, error) { return ask(ctx, p, of, s.Record, ends) }
	return p
}

// ask makes one request to a store, with storeTimeout.
func ask[Q, A any](ctx context.Context, s *store, of in, question func(context.Context, string, []Q) ([]A, error), about []Q) ([]A, error) {
	consumer, err := of(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	begun := time.Now()
	answers, err := question(ctx, consumer, about)
	if s.external {
		s.outage.note(begun, err)
	}
	return answers, err
}

// eachOnce makes sure that a request has each key only once: duplicates of an event may be in two
// partitions of this process.
func eachOnce(asks []lease.Ask, send func([]lease.Ask) ([]lease.Answer, error)) ([]lease.Answer, error) {
	answers := make([]lease.Answer, len(asks))
	waiting := make([]int, len(asks)) // indexes of asks without an answer
	for i := range asks {
		waiting[i] = i
	}
	for len(waiting) > 0 {
		var places, again []int
		var some []lease.Ask
		for _, i := range waiting {
			if slices.ContainsFunc(some, func(a lease.Ask) bool { return a.Key == asks[i].Key }) {
				again = append(again, i)
				continue
			}
			places, some = append(places, i), append(some, asks[i])
		}
		got, err := send(some)
		if err != nil {
			return nil, err
		}
		for n, i := range places {
			answers[i] = got[n]
		}
		waiting = again
	}
	return answers, nil
}

// highest is the highest fencing token that a process has seen.
type highest struct{ atomic.Int64 }

func (h *highest) note(token int64) {
	for was := h.Load(); token > was && !h.CompareAndSwap(was, token); was = h.Load() {
	}
}

// outage tracks since when a store has not responded.
type outage struct {
	log *slog.Logger

	mu    sync.Mutex
	since time.Time // time of the first of the consecutive requests without a response; zero after a response
}

// note records the outcome of a request that was made at asked.
func (o *outage) note(asked time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if isBroken(err) { // this is also a response
		err = nil
	}
	switch {
	case err == nil && !o.since.IsZero():
		o.log.Info("the lease store responds again", "after", time.Since(o.since).Round(time.Millisecond))
		o.since = time.Time{}
	case err != nil && o.since.IsZero():
		o.log.Error("the lease store does not respond", "error", verdict.Describe(err))
		o.since = asked
	}
}
