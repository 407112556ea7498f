package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/effect"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// awaitsLocks says that a transaction calls handlers whose locks its owner has not asked for, or,
// if wait is true, that the first of its records waits for its lock. Nothing was sent.
type awaitsLocks struct {
	wanted []effect.Wanted
	event  string // of the first
	wait   bool
}

func (*awaitsLocks) Error() string { return "the locks of handlers are not held" }

// locked has the calls of a decision know their locks. It reports false if the transaction was cut
// before the first one whose lock another one has. Locks are asked for while no connection is
// held.
func (t *transaction) locked(d *decide.Decision) (bool, error) {
	var e awaitsLocks
	missing := int64(-1)
	for _, s := range d.Steps {
		if s.Stage != wire.GoCall || s.Call.Lock.Name == "" {
			continue
		}
		offset := s.Call.Message.Offset
		if len(e.wanted) == 0 {
			e.event = s.Call.Event
		}
		e.wanted = append(e.wanted, effect.Wanted{Lock: s.Call.Lock, Terms: s.Call.Terms, Offset: offset})
		held := false
		if s.Call.Lock, held = t.locks().Of(s.Call.Lock); !held && missing < 0 {
			missing = offset
		}
	}
	switch {
	case missing < 0 && (len(e.wanted) == 0 || t.locks().Asked()):
		return true, nil
	case !t.locks().Asked():
		return false, &e
	}
	before := slices.IndexFunc(t.records, func(m wire.Message) bool { return m.Offset == missing })
	if before == 0 {
		e.wait = true
		return false, &e
	}
	t.records, t.end = t.records[:before], 0
	return false, nil
}

// locks are those of the transaction's handlers. Letters have their own: what became of a batch
// may not be known yet.
func (t *transaction) locks() *effect.Locks {
	if t.settles != nil {
		return t.o.errands.locks
	}
	return t.o.locks
}

// newLocks are the locks of an owner's handlers.
func newLocks(o *Owner) *effect.Locks {
	return o.p.process.Effects.NewLocks(func(why error) { tellStore(o, why) })
}

// takeLocks takes the step of an owner that has nothing to send, and asks for locks.
func takeLocks(ctx context.Context, o *Owner, in *effect.Locks, e *awaitsLocks) error {
	giveBack(ctx, o, in, nil) // who waits holds nothing
	if err := o.step(protocol.Awaits, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.life.quit, cancel)()
	first := e.wanted[0]
	awaiting(o.p, &awaited{first.Offset, "lock " + first.Lock.Name + " of " + e.event + ", which another call holds"})
	err := in.Take(ctx, e.wanted, e.wait)
	awaiting(o.p, nil)
	if err == nil {
		if err = fault.At(ctx, fault.AfterLock); err != nil {
			in.Abandon()
		}
		return err
	}
	if h, ok := errors.AsType[*verdict.Halt](err); ok {
		return refuse(o, h)
	}
	if o.life.quit.Err() != nil {
		return o.ended()
	}
	return err
}

// giveBack gives locks back behind a transaction that ended with err. In doubt they are left to
// their time, and had again by the next try. So are those of a handler that does not end.
func giveBack(ctx context.Context, o *Owner, locks *effect.Locks, err error) {
	h, halts := errors.AsType[*verdict.Halt](err)
	if o.chain.Open() == 0 && !(halts && h.Code == halt.Handler) {
		locks.GiveBack(ctx)
	} else {
		locks.Abandon()
	}
}
