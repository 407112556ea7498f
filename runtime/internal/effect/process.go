// Package effect makes the calls of effects: calls of the service's Go code outside of the
// transaction, each under a lease, so that without failures each event is called once, however
// slow the call is and even if the partition changes its owner.
//
//	Desk (of one owner) -> task (of one record): acquire -> call, heartbeat -> record -> Outcome
//	Process (of all)    -> slots; the stores of leases: what goes to one in the same moment goes together
//
// A task that has begun a call finishes it and records its outcome, even if its partition is given
// up meanwhile: the next owner waits for it, and finds the result. The package does not advance
// the position, and writes nothing to the ledger. It must not import any package of this module
// but backoff, engine/deadletter, fault, halt, hook, idemtype, lease, record, verdict, watchdog
// and wire.
package effect

import (
	"context"
	"crypto/rand"
	"log/slog"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Process contains what the effects of one process share.
type Process struct {
	Consumer string
	Who      string // names this process in leases, for operators
	Log      *slog.Logger
	slots    chan struct{} // one for each call that may run
	postgres *store
	external *store // nil if the service has none
	look     gather[wire.Key, seen]
	locks    lockStores
	turns    turns
	callers  callers
	running  running // the tasks, and the locks that are still to be given back
	tally    tally
	courses  courses
	tokens   *highest
	Hooks    Hooks
}

// Hooks are called for each call, on the goroutine of the call.
type Hooks interface {
	// CallStart returns the context for a call that begins.
	CallStart(context.Context, idemtype.Partition) context.Context
	// Call is called when the end of a call has been recorded or dropped.
	Call(context.Context, idemtype.Partition, hook.Ended)
}

// seen is what Postgres says about a key whose lease may be outside of it.
type seen struct {
	token int64
	here  bool // Postgres has a lease of the key
}

// NewProcess returns the effects of a consumer. At most most calls run at the same time. external
// is the store of leases outside of Postgres; nil if there is none.
func NewProcess(consumer string, postgres Postgres, external lease.Store, most int, log *slog.Logger) *Process {
	tokens := &highest{}
	p := &Process{
		Consumer: consumer, Log: log, slots: make(chan struct{}, max(1, most)), tokens: tokens,
		postgres: newStore(inPostgres(consumer), postgres, false, tokens, &outage{log: log}),
	}
	p.locks = lockStores{postgres: postgres, external: external, outage: p.postgres.outage, tokens: tokens, stores: map[string]*store{}}
	if external != nil {
		p.external = newStore(ofDatabase(postgres, consumer), external, true, tokens, &outage{log: log})
		p.locks.outage = p.external.outage
	}
	p.look.send = func(ctx context.Context, keys []wire.Key) ([]seen, error) {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		tokens, here, err := postgres.Look(ctx, consumer, keys, p.Token())
		if err != nil {
			return nil, err
		}
		all := make([]seen, len(keys))
		for i := range all {
			all[i] = seen{tokens[i], here[i]}
			p.tokens.note(tokens[i])
		}
		return all, nil
	}
	return p
}

// Token returns the highest fencing token that this process has seen; 0 if it has seen none.
func (p *Process) Token() int64 { return p.tokens.Load() }

// Know says that a token was drawn, by whatever process: a call gets a greater one.
func (p *Process) Know(token int64) { p.tokens.note(token) }

// Wait waits until no effect is running and no lock is to be given back, or until ctx is done. It
// is called before the process ends and once all owners have quit, so that an effect ends with its
// call: if a call were cut off, its outcome would be unknown.
func (p *Process) Wait(ctx context.Context) { p.running.Wait(ctx) }

// newOwner returns a name for one attempt to acquire a lease.
func newOwner() (u wire.UUID) {
	rand.Read(u[:])
	return u
}
