package effect

import (
	"context"
	"sync"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Wanted is the lock of a handler that a transaction is about to call.
type Wanted struct {
	Lock   wire.Lock
	Terms  *wire.LockTerms
	Offset int64 // of the record
}

// Locks are those of the handlers that one transaction calls. They are had before it begins. Who
// waits for one holds none: so nobody waits for ever.
//
//	Take -> Of, Under: the transaction -> GiveBack: its end is known
//	                                   -> Abandon: it is not; Take gets them again, for as long as
//	                                      they last, and nobody else does
type Locks struct {
	process *Process
	tell    func(error) // as of a [Desk]

	mu    sync.Mutex
	asked bool // since they were held last
	held  map[wire.Lock]*lock
	left  map[wire.Lock]wire.UUID // owners of those that were left to their time
	ctx   context.Context         // ends when one of them is lost; nil before the first
	lost  context.CancelCauseFunc
}

// NewLocks returns the locks of an owner's transactions, one at a time. tell hears why they cannot
// be asked for; nil when they can.
func (p *Process) NewLocks(tell func(error)) *Locks { return &Locks{process: p, tell: tell} }

// Take asks for locks, without waiting for those that another one has. If wait is true, it waits
// for the first one, until ctx ends. None may be held.
func (l *Locks) Take(ctx context.Context, wanted []Wanted, wait bool) error {
	l.mu.Lock()
	l.ctx, l.lost = context.WithCancelCause(context.WithoutCancel(ctx))
	lost := l.lost
	l.mu.Unlock()
	all := l.each(wanted)
	if wait {
		if err := l.first(ctx, all[0], wanted[0].Offset, lost); err != nil {
			return err
		}
	}
	var asking sync.WaitGroup
	for _, k := range all {
		if !k.held {
			asking.Go(func() { k.attempt(ctx, lost) })
		}
	}
	asking.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.held, l.left = true, map[wire.Lock]*lock{}, nil
	for _, k := range all {
		if k.held {
			l.held[k.of] = k
		}
	}
	return nil
}

// each is each lock once, in the order in which they are wanted.
func (l *Locks) each(wanted []Wanted) (all []*lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := map[wire.Lock]bool{}
	for _, w := range wanted {
		if !seen[w.Lock] {
			seen[w.Lock] = true
			all = append(all, &lock{process: l.process, of: w.Lock, external: w.Terms.External, term: w.Terms.Lease, owner: l.left[w.Lock]})
		}
	}
	return all
}

// first waits until a lock is had.
func (l *Locks) first(ctx context.Context, k *lock, offset int64, lost context.CancelCauseFunc) error {
	for failures := 0; ; {
		if !k.queue(ctx) {
			return ctx.Err()
		}
		wait, err := k.take(ctx, lost)
		switch {
		case isBroken(err):
			k.leave()
			return brokenAt(offset, err)
		case err != nil:
			failures++
			l.tell(unanswered(err))
			wait = backoff.Pause(failures, backoff.Initial, backoff.Most)
		default:
			failures = 0
			l.tell(nil)
		}
		if k.held {
			return nil
		}
		if !backoff.Sleep(ctx, wait) {
			k.leave()
			return ctx.Err()
		}
	}
}

// attempt asks for the lock once, if nobody of this process is before it. Why it is not had is
// found out by who waits for it.
func (l *lock) attempt(ctx context.Context, lost context.CancelCauseFunc) {
	if l.turn = l.process.turns.alone(l.of); l.turn == nil {
		return
	}
	if _, err := l.take(ctx, lost); err != nil || !l.held {
		l.leave()
	}
}

// Asked reports whether locks were asked for since they were given back, and none was lost.
func (l *Locks) Asked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked && l.ctx.Err() == nil
}

// Of returns a lock with the number of its holder, and whether it is held.
func (l *Locks) Of(of wire.Lock) (wire.Lock, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.held[of]
	if k == nil {
		return of, false
	}
	return k.had(), true
}

// Under returns a context that ends when one of the locks is lost; its cause is [ErrLost] then.
func (l *Locks) Under(ctx context.Context) (context.Context, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) == 0 {
		return ctx, func() {}
	}
	under, lost := context.WithCancelCause(ctx)
	held := l.ctx
	stop := context.AfterFunc(held, func() { lost(context.Cause(held)) })
	return under, func() { stop(); lost(nil) }
}

// GiveBack lets others have the locks, behind all that was done under them.
func (l *Locks) GiveBack(ctx context.Context) {
	l.mu.Lock()
	held, lost := l.held, l.lost
	l.held, l.left, l.asked = nil, nil, false
	l.mu.Unlock()
	if lost != nil {
		defer lost(nil)
	}
	var all sync.WaitGroup
	for _, k := range held {
		l.process.calls.Add(1)
		all.Go(func() {
			defer l.process.calls.Done()
			k.giveBack(ctx)
			k.leave()
		})
	}
	all.Wait()
}

// Abandon leaves the locks to their time.
func (l *Locks) Abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of, k := range l.held {
		if l.left == nil {
			l.left = map[wire.Lock]wire.UUID{}
		}
		l.left[of] = k.hold.Owner
		k.abandon()
		k.leave()
	}
	l.held, l.asked = nil, false
}
