package effect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// lock is what a task has to do with the lock of its event. It is asked for before the lease, and
// nobody who holds a lock waits for anything but a call that runs: so nobody waits for ever.
type lock struct {
	process *Process
	of      wire.Lock // its name is "" if the event has none
	term    time.Duration

	turn   *turn        // in the line of this process; nil if it is in none
	owner  wire.UUID    // of the last ask, until an answer was heard; then zero
	skip   int64        // numbers to leave out: the store knows greater ones
	busy   bool         // another process has the lock: the task keeps its turn
	answer lease.Answer // if it is busy
	held   bool
	hold   hold
	beat   *heartbeat
}

// keepLock is how long a store remembers a lock at least that nobody holds.
const keepLock = 24 * time.Hour

// lockStores are where locks are. A store keeps the locks of a name apart from those of others.
type lockStores struct {
	postgres Postgres
	external lease.Store
	outage   *outage // of the external one

	mu     sync.Mutex
	stores map[string]*store // by name
}

// of is where the locks of a name are.
func (l *lockStores) of(name string) *store {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stores[name] == nil {
		if of := lease.Locks(name); l.external != nil {
			l.stores[name] = newStore(ofDatabase(l.postgres, of), l.external, true, l.outage)
		} else {
			l.stores[name] = newStore(inPostgres(of), l.postgres, false, l.outage)
		}
	}
	return l.stores[name]
}

// take asks for the lock of the event, if it has one. Wait is how long to wait before it is asked
// for again, if another one has it. Lost hears of it when the lock that was had is lost.
func (l *lock) take(ctx context.Context, lost context.CancelCauseFunc) (wait time.Duration, err error) {
	l.busy = false
	if l.of.Name == "" {
		return 0, nil
	}
	ask, at, err := l.ask(ctx)
	if err != nil {
		return 0, err
	}
	asked := time.Now()
	a, err := at.acquire.do(ctx, ask)
	if err != nil { // the store may have done it all the same: it is asked again under this owner
		return 0, err
	}
	l.owner, l.skip = wire.UUID{}, 0
	switch {
	case a.Got:
		since := asked.Add(min(0, a.Wait-ask.Term)) // it may be had since an earlier ask
		l.held, l.hold = true, hold{lease.Hold{Key: ask.Key, Owner: ask.Owner, Token: a.Token}, at, since}
		l.beat = extend(ctx, l.hold, l.term, lost)
		return 0, nil
	case a.Stale:
		l.skip = past(a, ask)
	case a.State != lease.Processing && a.State != lease.Failed:
		return 0, &lease.Broken{Err: fmt.Errorf("the entry for lock %q is not a lock: it is in state %q", l.of.Name, a.State)}
	}
	l.busy, l.answer = true, a
	return min(a.Wait+time.Millisecond, busyPoll), nil
}

// ask is the question for the lock, and where to ask it. Locks are where the leases of the process
// are, and nowhere else: else two would hold one.
func (l *lock) ask(ctx context.Context) (lease.Ask, *store, error) {
	p := l.process
	if l.owner == (wire.UUID{}) {
		l.owner = newOwner()
	}
	ask := lease.Ask{Key: l.of.Key, Owner: l.owner, Term: l.term, Keep: keepLock, Holder: p.Who}
	if p.external == nil {
		return ask, p.locks.of(l.of.Name), nil
	}
	s, err := p.look.do(ctx, lookup{ask.Key, l.skip})
	ask.Token = s.token
	return ask, p.locks.of(l.of.Name), err
}

// past is how many numbers to leave out where a store knows a greater one.
func past(a lease.Answer, ask lease.Ask) int64 { return max(0, min(a.Token-ask.Token, mostSkipped)) }

// had is the lock that the task holds, with its number.
func (l *lock) had() (of wire.Lock) {
	if l.held {
		of = l.of
		of.Token = l.hold.Token
	}
	return of
}

// giveBack lets the next one have the lock, after all that the call did. While the store does not
// answer it is asked again, for no longer than the lock lasts: then it is free anyway.
func (l *lock) giveBack(ctx context.Context) {
	if !l.held {
		return
	}
	of := l.hold
	l.abandon()
	end := lease.End{Hold: of.Hold, State: lease.Failed}
	if _, err := of.at.record.do(ctx, end); err == nil || isBroken(err) {
		return
	}
	over := time.Now().Add(l.term)
	l.process.calls.Go(func() {
		for try := 1; time.Now().Before(over); try++ {
			time.Sleep(backoff.Pause(try, backoff.Initial, time.Second))
			if _, err := of.at.record.do(ctx, end); err == nil || isBroken(err) {
				return
			}
		}
	})
}

// abandon has the lock no more, and leaves it to its time.
func (l *lock) abandon() {
	if l.held {
		l.held = false
		l.beat.stop()
	}
}
