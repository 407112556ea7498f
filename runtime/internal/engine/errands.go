package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/effect"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

const (
	// lookEvery is how often an owner at work looks for what operators ask about dead letters.
	lookEvery = 5 * time.Second
	// mostTime is how long a batch waits at most while the owner does what operators ask.
	mostTime = time.Second
	// callLook is how often it is looked at most whether the effect of a letter is over.
	callLook = 500 * time.Millisecond
)

// errands is what operators ask of an owner. A request is in the letter's row, and is done between
// batches, as one row of the chain, in the order of the log. One that cannot be done yet keeps no
// records waiting, nor other requests but those of its record key: it is tried again later.
type errands struct {
	o        *Owner
	desk     *effect.Desk // of letters' effects; nil as that of the owner
	next     time.Time    // when to look again
	tried    map[deadletter.Place]*errand
	patience time.Duration // how long records wait yet for calls and locks of letters
}

// errand is a request that was tried.
type errand struct {
	asked time.Time
	lines []string     // of the requests that it holds up
	key   *wire.UUID   // record key; nil if it has none
	retry *retry.State // its failures count apart from those of records
	tries int
	after time.Time // not before
	calls bool      // its effect, or another one's lock, is waited for
}

func placeOf(l *deadletter.Open) deadletter.Place {
	return deadletter.Place{Offset: l.Offset, Seq: l.Seq}
}

// run does what operators ask, if it is time to look, or at once, when no records wait. It does at
// least one thing; then records that wait go first.
func (e *errands) run(ctx context.Context, atOnce bool) error {
	began := time.Now()
	if !atOnce && began.Before(e.next) {
		return nil
	}
	if atOnce {
		e.patience = mostTime // nobody waits
	}
	for done := 0; ; {
		now := time.Now() // who waits until later is not asked for, and holds up those behind it
		asked, err := e.asked(ctx, now)
		if err != nil {
			return err
		}
		before, held := done, e.lines(now)
		for i := range asked {
			l := &asked[i]
			if heldUp(l, held) || e.parked(l) || e.calling(l, held) {
				continue
			}
			if done > 0 && (e.o.life.wanted.Load() > 0 || !atOnce && time.Since(began) > mostTime) {
				return nil
			}
			if err := e.do(ctx, l); err != nil {
				return err
			}
			e.holdUp(l, held)
			done++
		}
		if done == before && !e.rest(ctx, now) {
			return nil
		}
	}
}

// LookAtOnce has an owner look with its next batch for what operators ask.
func LookAtOnce(o *Owner) { o.errands.next = time.Time{} }

// asked reads what is asked, and which waiting records may go on. What keeps it from reading is
// left to the next look: nothing is refused, and records find out what it is.
func (e *errands) asked(ctx context.Context, now time.Time) (asked []deadletter.Open, _ error) {
	o := e.o
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	conn, err := o.p.process.Pool.Acquire(ctx, o.tellLater)
	if err == nil {
		defer conn.Release()
		err = e.keep(ctx, conn)
	}
	if err == nil {
		held := e.held(now)
		free := o.parked.Free(deadletter.MostOpen, func(key wire.UUID) bool { return slices.Contains(held.Keys, key) })
		asked, err = deadletter.Asked(ctx, conn, o.p.id, o.chain.Stream(), free, held)
	}
	switch {
	case err == nil:
		return asked, nil
	case o.life.quit.Err() != nil:
		return nil, o.ended()
	case !verdict.Away(err):
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
		if err == nil {
			e.log(t.settles)
			return nil // the next look finds out whether it was this attempt or one before it
		}
		again, refused := errors.AsType[*refusedAgain](err)
		why, err := e.conclude(ctx, t.records, err)
		later, wait := errors.AsType[*verdict.Later](err)
		switch state := o.State(); {
		case refused && err == nil && l.State == deadletter.Waiting && settles.State == deadletter.Replayed:
			settles = &deadletter.Settling{Letter: l, State: deadletter.Dead, Reason: why, Key: again.key, Answer: why, Drop: o.p.topic.OnFailure.Drop, Called: e.returned(l)}
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
			mine.look()
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
func (e *errands) conclude(ctx context.Context, records []wire.Message, err error) (why string, _ error) {
	o := e.o
	if again, refused := errors.AsType[*refusedAgain](err); refused {
		return again.reason, o.step(protocol.Awaits, nil)
	}
	if effect, waits := errors.AsType[*awaitsEffect](err); waits {
		return e.await(ctx, effect)
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
		err = deadletter.Answer(ctx, conn.Conn(), o.chain.Stream(), l, verdict.Storable(why), e.returned(l))
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

// returned is what the call of a letter's effect returned; nil if none was made and recorded.
func (e *errands) returned(l *deadletter.Open) []byte {
	if e.desk == nil {
		return nil
	}
	results, _ := e.desk.Outcomes()
	r, made := results[l.Offset]
	if !made {
		return nil
	}
	var letter deadletter.Letter
	letter.Called(r)
	return letter.Returned
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
		e.tried = map[deadletter.Place]*errand{}
	}
	at := placeOf(l)
	if known := e.tried[at]; known == nil || !known.asked.Equal(l.AskedAt) {
		e.tried[at] = &errand{asked: l.AskedAt, lines: linesOf(l), key: l.OrderKey, retry: retry.New()}
	}
	return e.tried[at]
}

// keep forgets what is not asked any more.
func (e *errands) keep(ctx context.Context, db deadletter.Querier) error {
	since, err := deadletter.Still(ctx, db, e.o.chain.Stream(), slices.Collect(maps.Keys(e.tried)))
	if err != nil {
		return err
	}
	maps.DeleteFunc(e.tried, func(at deadletter.Place, known *errand) bool { return !since[at].Equal(known.asked) })
	if len(e.tried) == 0 {
		e.patience = mostTime
	}
	if e.desk == nil {
		return nil
	}
	offsets := map[int64]bool{}
	for at := range e.tried {
		offsets[at.Offset] = true
	}
	e.desk.Forget(func(offset int64) bool { return !offsets[offset] })
	return nil
}

// held are the requests whose time has not come.
func (e *errands) held(now time.Time) (h deadletter.Held) {
	for at, known := range e.tried {
		if now.Before(known.after) {
			h.Letters = append(h.Letters, at)
			if known.key != nil {
				h.Keys = append(h.Keys, *known.key)
			}
		}
	}
	return h
}

// parked reports whether a record that waited for its record key has to go on waiting: one before
// it is dead again.
func (e *errands) parked(l *deadletter.Open) bool {
	if l.State != deadletter.Waiting {
		return false
	}
	q, _ := e.o.parked.Find(*l.OrderKey)
	return q.Dead > 0
}

// rest says when to look again. It reports true if that is now: it waited for calls of letters, as
// far as records have the patience. The look that found nothing to do, and began at that time,
// counts as waiting, too.
func (e *errands) rest(ctx context.Context, began time.Time) bool {
	e.next = time.Now().Add(lookEvery)
	calls := false
	for _, known := range e.tried {
		if known.after.Before(e.next) {
			e.next = known.after
		}
		calls = calls || known.calls
	}
	wait := time.Until(e.next)
	spent := time.Since(began) + max(wait, 0)
	if !calls || spent > e.patience || e.o.life.wanted.Load() > 0 {
		return false
	}
	e.patience -= spent
	return backoff.Sleep(ctx, wait) && e.o.life.quit.Err() == nil
}

// postpone has a request tried again after a pause; 0 is one that grows.
func (e *errand) postpone(after time.Duration) {
	e.calls = false
	e.tries++
	if after == 0 {
		after = backoff.Pause(e.tries, backoff.Initial, lookEvery)
	}
	e.after = time.Now().Add(after)
}

// look has it looked soon whether what a request waits for is over.
func (e *errand) look() {
	e.postpone(backoff.Pause(e.tries+1, 5*time.Millisecond, callLook))
	e.calls = true
}
