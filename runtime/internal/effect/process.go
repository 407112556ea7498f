// Package effect makes the effects of records outside of the transaction: calls of the service's
// Go code, each under a lease, so that a healthy system makes one for each event, however slow
// it is and whoever owns the partition.
//
//	Desk (of one owner) -> task (of one record): acquire -> call, heartbeat -> record -> Outcome
//	Process (of all)    -> slots; the stores of leases: what goes to one in the same moment goes together
//
// A task that has begun a call ends it and records what came of it, also if its partition is
// given up meanwhile: the next owner waits for it, and finds the result. It does not pass records,
// and writes nothing into the ledger. It must not import any package of this module but backoff,
// engine/deadletter, fault, halt, hook, idemtype, lease, record, verdict, watchdog and wire.
package effect

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Process is what the effects of one process share.
type Process struct {
	Consumer string
	Who      string // names this process in leases, for people
	Log      *slog.Logger
	slots    chan struct{} // one for each call that may run
	postgres *store
	external *store // nil if the service has none
	look     gather[lookup, seen]
	locks    lockStores
	turns    turns
	callers  callers
	calls    sync.WaitGroup
	tally    tally
	courses  courses
	Hooks    Hooks
}

// Hooks hear of calls, each on a goroutine of its own.
type Hooks interface {
	// CallStart returns the context for a call that begins.
	CallStart(context.Context, idemtype.Partition) context.Context
	// Call hears of a call whose end was recorded or dropped.
	Call(context.Context, idemtype.Partition, hook.Ended)
}

// lookup asks Postgres about a key whose lease may be outside of it.
type lookup struct {
	key  wire.Key
	skip int64 // how many tokens must be left out: the store knows greater ones
}

type seen struct {
	token int64
	here  bool // Postgres has a lease of the key
}

// NewProcess returns the effects of a consumer, most of them at the same time. External is the
// store of leases outside of Postgres; nil if there is none.
func NewProcess(consumer string, postgres Postgres, external lease.Store, most int, log *slog.Logger) *Process {
	p := &Process{Consumer: consumer, Log: log, slots: make(chan struct{}, max(1, most)), postgres: newStore(inPostgres(consumer), postgres, false, &outage{log: log})}
	p.locks = lockStores{postgres: postgres, external: external, outage: p.postgres.outage, stores: map[string]*store{}}
	if external != nil {
		p.external = newStore(ofDatabase(postgres, consumer), external, true, &outage{log: log})
		p.locks.outage = p.external.outage
	}
	p.look.send = func(ctx context.Context, asked []lookup) ([]seen, error) {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		keys, skip := make([]wire.Key, len(asked)), make([]int64, len(asked))
		for i, l := range asked {
			keys[i], skip[i] = l.key, l.skip
		}
		tokens, here, err := postgres.Look(ctx, consumer, keys, skip)
		if err != nil {
			return nil, err
		}
		all := make([]seen, len(asked))
		for i := range all {
			all[i] = seen{tokens[i], here[i]}
		}
		return all, nil
	}
	return p
}

// Wait waits until no call runs any more, or ctx has ended. It is for the end of the process: a
// call that is cut off there would have to be found out about.
func (p *Process) Wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		p.calls.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// newOwner names one try of a lease.
func newOwner() (u wire.UUID) {
	rand.Read(u[:])
	return u
}
