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

// lock is a task's state of the lock of its event. The lock is acquired before the lease, and a
// holder of a lock waits only for a running call, so there is no deadlock.
type lock struct {
	process *Process
	of      wire.Lock // its name is "" if the event has none
	term    time.Duration

	turn   *turn        // in the line of this process; nil if it is not in a line
	owner  wire.UUID    // of the last ask, until it was answered; then zero
	busy   bool         // another process has the lock: the task keeps its turn
	answer lease.Answer // if it is busy
	sight  sighting     // of another holder
	held   bool
	hold   hold
	beat   *heartbeat
}

// keepLock is how long, at least, a store remembers a lock that is not held.
const keepLock = 24 * time.Hour

// lockStores are the stores of locks, one for each name of locks.
type lockStores struct {
	postgres Postgres
	external lease.Store
	outage   *outage // of the external one
	tokens   *highest

	mu     sync.Mutex
	stores map[string]*store // by name
}

// of returns the store of the locks of a name.
func (l *lockStores) of(name string) *store {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stores[name] == nil {
		if of := lease.Locks(name); l.external != nil {
			l.stores[name] = newStore(ofDatabase(l.postgres, of), l.external, true, l.tokens, l.outage)
		} else {
			l.stores[name] = newStore(inPostgres(of), l.postgres, false, l.tokens, l.outage)
		}
	}
	return l.stores[name]
}

// take acquires the lock of the event, if it has one. If another task holds the lock, wait is how
// long to wait before the next attempt. lost is called if the acquired lock is lost.
func (l *lock) take(ctx context.Context, lost context.CancelCauseFunc) (wait time.Duration, err error) {
	if l.of.Name == "" {
		return 0, nil
	}
	ask, at, err := l.ask(ctx)
	if err != nil {
		return 0, err
	}
	asked := time.Now()
	a, err := at.acquire.do(ctx, ask)
	if err != nil { // the store may have granted it nevertheless: the next ask has the same owner
		return 0, err
	}
	l.owner = wire.UUID{}
	l.sight.note(a)
	switch {
	case a.Got:
		since := asked.Add(min(0, a.Wait-ask.Term)) // it may have been granted to an earlier ask
		l.held, l.hold = true, hold{lease.Hold{Key: ask.Key, Owner: ask.Owner, Token: a.Token}, at, since}
		l.beat = extend(ctx, l.hold, l.term, lost)
		return 0, nil
	case a.Stale: // the next token is drawn past the store's
	case a.State != lease.Processing && a.State != lease.Failed:
		return 0, &lease.Broken{Err: fmt.Errorf("the entry for lock %q is not a lock: it is in state %q", l.of.Name, a.State)}
	}
	l.busy, l.answer = true, a
	return min(a.Wait+time.Millisecond, busyPoll), nil
}

// ask returns the request for the lock, and its store. Locks are in the same store as the leases
// of the process, and in no other: otherwise two tasks could hold the same lock.
func (l *lock) ask(ctx context.Context) (lease.Ask, *store, error) {
	p := l.process
	if l.owner == (wire.UUID{}) {
		l.owner = newOwner()
	}
	ask := lease.Ask{Key: l.of.Key, Owner: l.owner, Term: l.term, Keep: keepLock, Holder: p.Who, Seen: l.sight.seen()}
	if p.external == nil {
		return ask, p.locks.of(l.of.Name), nil
	}
	s, err := p.look.do(ctx, ask.Key)
	ask.Token = s.token
	return ask, p.locks.of(l.of.Name), err
}

// had returns the lock that the task holds, with its token.
func (l *lock) had() (of wire.Lock) {
	if l.held {
		of = l.of
		of.Token = l.hold.Token
	}
	return of
}

// giveBack releases the lock after the call has ended. While the store does not respond, it
// retries until the lock has expired, after which it is free anyway.
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
	l.process.running.Go(func() {
		for try := 1; time.Now().Before(over); try++ {
			time.Sleep(backoff.Pause(try, backoff.Initial, time.Second))
			if _, err := of.at.record.do(ctx, end); err == nil || isBroken(err) {
				return
			}
		}
	})
}

// abandon drops the lock without releasing it; it will expire.
func (l *lock) abandon() {
	if l.held {
		l.held = false
		l.beat.stop()
	}
}
