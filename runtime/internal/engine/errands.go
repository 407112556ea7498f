package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/effect"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

const (
	// lookEvery is how often an owner at work looks for what operators ask about dead letters.
	lookEvery = 5 * time.Second
	// errandsTime is how long records wait at most while the owner does what operators ask.
	errandsTime = 5 * time.Second
	// callTime is how long records wait for the effect of a letter, once. Then they go on, and it
	// is looked every callLook whether the effect is over.
	callTime = time.Second
	callLook = 500 * time.Millisecond
)

// errands is what operators ask of an owner. A request is in the letter's row, and is done between
// batches, as one row of the chain. One that cannot be done yet keeps no records waiting: it is
// tried again later.
type errands struct {
	o     *Owner
	desk  *effect.Desk // of letters' effects; nil as that of the owner
	locks *effect.Locks
	next  time.Time // when to look again
	tried map[request]*errand
}

// request is one request about one letter.
type request struct{ offset, seq, askedAt int64 }

func requestOf(l *deadletter.Open) request { return request{l.Offset, l.Seq, l.AskedAt.UnixMicro()} }

// errand is a request that was tried.
type errand struct {
	retry *retry.State // its failures count apart from those of records
	tries int
	after time.Time // not before
}

// run does what operators ask, if it is time to look, or at once.
func (e *errands) run(ctx context.Context, atOnce bool) error {
	began := time.Now()
	if !atOnce && began.Before(e.next) {
		return nil
	}
	for {
		asked, err := e.asked(ctx)
		if err != nil {
			return err
		}
		e.keep(asked)
		due := e.due(asked)
		if len(due) == 0 {
			e.rest()
			return nil
		}
		for i := range due {
			if time.Since(began) > errandsTime { // records first, then the rest
				return nil
			}
			if err := e.do(ctx, &due[i]); err != nil {
				return err
			}
		}
	}
}

// asked reads what is asked, and which waiting records may go on. What keeps it from reading is
// left to the next look: nothing is refused, and records find out what it is.
func (e *errands) asked(ctx context.Context) ([]deadletter.Open, error) {
	o := e.o
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	conn, err := o.p.process.Pool.Acquire(ctx, o.tellLater)
	if err == nil {
		defer conn.Release()
		var asked []deadletter.Open
		asked, err = deadletter.Asked(ctx, conn, o.p.id, o.chain.Stream())
		for _, key := range o.parked.Free() {
			if err != nil {
				break
			}
			var next []deadletter.Open
			next, err = deadletter.Next(ctx, conn, o.p.id, o.chain.Stream(), key)
			asked = append(asked, next...)
		}
		if err == nil {
			return asked, nil
		}
	}
	if o.life.quit.Err() != nil {
		return nil, o.ended()
	}
	if !verdict.Away(err) {
		o.p.process.Log.Warn("it cannot be read what operators ask about dead letters", "topic", o.p.id.Topic, "partition", o.p.id.Number, "err", verdict.Describe(err))
	}
	return nil, nil
}

// do does one request: it settles the letter with a row of the chain, or answers why it stays as
// it is.
func (e *errands) do(ctx context.Context, l *deadletter.Open) error {
	settles := &deadletter.Settling{Letter: l, State: l.Asked, Answer: "discarded"}
	switch {
	case l.Asked != deadletter.Replayed || l.Lost == nil:
	case l.State == deadletter.Dead:
		return e.answer(ctx, l, l.Lost.Error())
	case l.Dropped():
		settles.State = deadletter.Discarded
	default:
		settles.State, settles.Reason = deadletter.Dead, wire.ReasonDecode+": "+l.Lost.Error()
	}
	o, mine := e.o, e.of(l)
	batch := o.retry
	o.retry = mine.retry
	defer func() { o.retry = batch }()
	for try := 1; ; try++ {
		t := &transaction{o: o, settles: settles}
		if settles.State == deadletter.Replayed {
			t.records = []wire.Message{l.Message}
		}
		_, err := t.transact(ctx)
		if _, waits := errors.AsType[*awaitsLocks](err); !waits {
			giveBack(ctx, o, e.locks, err)
		}
		if err == nil {
			e.log(t.settles)
			return nil // the next look finds out whether it was this attempt or one before it
		}
		again, refused := errors.AsType[*refusedAgain](err)
		why, err := e.conclude(ctx, mine, t.records, err)
		later, wait := errors.AsType[*verdict.Later](err)
		switch state := o.State(); {
		case refused && err == nil && l.State == deadletter.Waiting && settles.State == deadletter.Replayed:
			settles = &deadletter.Settling{Letter: l, State: deadletter.Dead, Reason: why, Key: again.key, Answer: why, Drop: o.p.topic.OnFailure.Drop}
		case why != "" && err == nil && l.State == deadletter.Dead:
			if settles.Other {
				why += "; its effect has a result already, which counts in place of the one that was given: repair the rows, or discard the letter"
			}
			return e.answer(ctx, l, why)
		case why != "" && err == nil:
			mine.postpone(lookEvery)
			o.p.process.Log.Error("a record that waited for its record key cannot go on", "topic", o.p.id.Topic, "partition", o.p.id.Number, "offset", l.Offset, "reason", why)
			return nil
		case errors.Is(err, errUnderWay):
			mine.postpone(callLook)
			return nil
		case wait && state == protocol.Doubt: // the same append settles it
			if !(delivery{o}).pause(ctx, later, try) {
				return errors.Join(ctx.Err(), o.life.quit.Err())
			}
		case wait:
			mine.postpone(later.After)
			o.p.process.Log.Info("a dead letter is tried again later", "topic", o.p.id.Topic, "partition", o.p.id.Number, "offset", l.Offset, "reason", later.Err)
			return nil
		case err != nil:
			return err
		}
	}
}

// conclude decides what follows from the error of a transaction that was to settle a letter,
// and takes the protocol's step for it. why says why the letter stays as it is, if it does: it
// halts no partition that its record is refused again.
func (e *errands) conclude(ctx context.Context, mine *errand, records []wire.Message, err error) (why string, _ error) {
	o := e.o
	if again, refused := errors.AsType[*refusedAgain](err); refused {
		return again.reason, o.step(protocol.Awaits, nil)
	}
	if locks, waits := errors.AsType[*awaitsLocks](err); waits {
		return "", e.takeLocks(ctx, locks)
	}
	if effect, waits := errors.AsType[*awaitsEffect](err); waits {
		return e.await(ctx, mine, effect)
	}
	n, err := judge(o, records, err)
	if err != nil {
		return "", err
	}
	if h := n.Halt; h != nil && h.Code != halt.Pooler && h.Code != halt.Runtime {
		return h.Error(), o.step(protocol.Data, nil)
	}
	if n.Later != nil && n.Event != protocol.Unknown { // the partition makes progress nevertheless
		if err := o.step(n.Event, nil); err != nil {
			return "", err
		}
		return "", n.Later
	}
	return "", o.follow(n)
}

// refusedAgain says that a dead letter's record is refused as before, or for another reason.
// Nothing was sent.
type refusedAgain struct {
	reason string
	key    *wire.UUID // idempotency key of a conflict, or of an effect; else nil
}

func (e *refusedAgain) Error() string { return e.reason }

// answer tells who asked that a letter stays as it is.
func (e *errands) answer(ctx context.Context, l *deadletter.Open, why string) error {
	o := e.o
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	conn, err := o.p.process.Pool.Acquire(ctx, o.tellLater)
	if err == nil {
		defer conn.Release()
		err = deadletter.Answer(ctx, conn.Conn(), o.chain.Stream(), l, verdict.Storable(why))
	}
	args := []any{"topic", o.p.id.Topic, "partition", o.p.id.Number, "offset", l.Offset, "reason", why}
	if err != nil {
		e.of(l).postpone(0)
		o.p.process.Log.Warn("a dead letter stays, and it cannot be told who asked", append(args, "err", verdict.Describe(err))...)
		return nil
	}
	o.p.process.Log.Warn("a dead letter stays: it was refused again", args...)
	return nil
}

// log logs what became of a letter.
func (e *errands) log(s *deadletter.Settling) {
	o := e.o
	if o.chain.Tail().Kind == ledger.Letter {
		o.p.process.Log.Info("a dead letter was settled", "topic", o.p.id.Topic, "partition", o.p.id.Number, "what", s.Info(), "answer", s.Answer)
	}
}

// of is what is known of a request.
func (e *errands) of(l *deadletter.Open) *errand {
	if e.tried == nil {
		e.tried = map[request]*errand{}
	}
	id := requestOf(l)
	if e.tried[id] == nil {
		e.tried[id] = &errand{retry: retry.New()}
	}
	return e.tried[id]
}

// keep forgets what is not asked any more.
func (e *errands) keep(asked []deadletter.Open) {
	maps.DeleteFunc(e.tried, func(id request, _ *errand) bool {
		return !slices.ContainsFunc(asked, func(l deadletter.Open) bool { return requestOf(&l) == id })
	})
	if e.desk == nil {
		return
	}
	e.desk.Forget(func(offset int64) bool {
		for id := range e.tried {
			if id.offset == offset {
				return false
			}
		}
		return true
	})
}

// due are the requests whose time has come: one of each offset, since letters of one record share
// its effect.
func (e *errands) due(asked []deadletter.Open) (due []deadletter.Open) {
	seen := map[int64]bool{}
	for _, l := range asked {
		if !seen[l.Offset] && !time.Now().Before(e.of(&l).after) {
			due = append(due, l)
		}
		seen[l.Offset] = true
	}
	return due
}

// rest says when to look again.
func (e *errands) rest() {
	e.next = time.Now().Add(lookEvery)
	for _, errand := range e.tried {
		if errand.after.Before(e.next) {
			e.next = errand.after
		}
	}
}

// postpone has a request tried again after a pause; 0 is one that grows.
func (e *errand) postpone(after time.Duration) {
	e.tries++
	if after == 0 {
		after = backoff.Pause(e.tries, backoff.Initial, lookEvery)
	}
	e.after = time.Now().Add(after)
}
