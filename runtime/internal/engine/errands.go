package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

const (
	// lookEvery is the interval at which a working owner looks for operators' requests about dead
	// letters.
	lookEvery = 5 * time.Second
	// mostTime is the longest time that a batch waits while the owner carries out requests.
	mostTime = time.Second
	// callLook is the shortest interval between two checks whether the effect of a letter has
	// ended.
	callLook = 500 * time.Millisecond
)

// errands carries out operators' requests about dead letters. A request is stored in the letter's
// row. It is carried out between batches, as one row of the chain, in the order of the log. A
// request that cannot be carried out yet is retried later: it delays only requests with the same
// record key, not records.
type errands struct {
	o        *Owner
	desk     Desk      // of letters' effects; nil if the owner's is nil
	next     time.Time // when to look again
	tried    map[deadletter.Place]*errand
	patience time.Duration // how much longer records wait for calls and locks of letters
}

// errand is a request that was attempted.
type errand struct {
	asked time.Time
	lines []string     // of the requests that it holds up
	key   *wire.UUID   // record key; nil if it has none
	retry *retry.State // its failures are counted separately from those of records
	tries int          // failed attempts
	looks int          // checks whether its effect has ended
	after time.Time    // not before
	calls bool         // it waits for its effect, or for a lock
}

func placeOf(l *deadletter.Open) deadletter.Place {
	return deadletter.Place{Offset: l.Offset, Seq: l.Seq}
}

// run carries out requests if it is time to look for them, or immediately if no records wait. It
// carries out at least one; then waiting records come first. While an append of a batch is in
// doubt, records come first immediately.
func (e *errands) run(ctx context.Context, atOnce bool) error {
	began := time.Now()
	if !atOnce && (began.Before(e.next) || e.o.State() == protocol.Doubt) {
		return nil
	}
	if atOnce {
		e.patience = mostTime // no records wait
	}
	for done := 0; ; {
		now := time.Now() // requests that wait until later are not read, and hold up those behind them
		asked, held, err := e.asked(ctx, now)
		if err != nil {
			return err
		}
		before := done
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

// LookAtOnce makes the owner look for requests with its next batch.
func (o *Owner) LookAtOnce() { o.errands.next = time.Time{} }

// asked reads the requests, and the parked records that may now be applied, and returns which
// lines are held up by requests whose time has not come. If reading fails, it is retried at the
// next look: no request is rejected, and the next batch reports the error.
func (e *errands) asked(ctx context.Context, now time.Time) (asked []deadletter.Open, lines map[string]bool, _ error) {
	o := e.o
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	conn, err := o.p.process.Pool.Acquire(ctx, o.tellLater)
	if err == nil {
		defer conn.Release()
		err = e.keep(ctx, conn)
	}
	if err == nil {
		var held deadletter.Held
		held, lines = e.held(now)
		free := o.parked.Free(deadletter.MostOpen, func(key wire.UUID) bool { return slices.Contains(held.Keys, key) })
		asked, err = deadletter.Asked(ctx, conn, o.p.id, o.chain.Stream(), free, held)
	}
	switch {
	case err == nil:
		return asked, lines, nil
	case o.life.quit.Err() != nil:
		return nil, nil, o.ended()
	case !verdict.Away(err):
		o.p.process.Log.Warn("operators' requests about dead letters cannot be read", "topic", o.p.id.Topic, "partition", o.p.id.Number, "err", verdict.Describe(err))
	}
	return nil, nil, nil
}

// do carries out one request: it settles the letter with a row of the chain, or records why the
// letter stays as it is.
func (e *errands) do(ctx context.Context, of *deadletter.Open) error {
	l := &letter{e: e, open: of, errand: e.of(of), settle: &deadletter.Settling{Letter: of, State: of.Asked}}
	if of.Asked == deadletter.Discarded {
		l.settle.Answer = "discarded"
	}
	switch {
	case of.Asked != deadletter.Replayed || of.Lost == nil:
	case of.State == deadletter.Dead:
		l.why = of.Lost.Error()
		return e.stays(ctx, l)
	case of.Dropped():
		l.settle.State, l.settle.Answer = deadletter.Discarded, "discarded: "+of.Lost.Error()
	default:
		l.why = wire.ReasonDecode + ": " + of.Lost.Error()
		l.dies()
	}
	o := e.o
	for try := 1; ; try++ {
		over, err := l.ready(ctx)
		if err == nil && !over {
			l.errand.look()
			return nil
		}
		var out outcome
		if err == nil && l.why == "" {
			w := l.work()
			out = o.transact(ctx, w)
			err = o.conclude(w, out)
		}
		later, wait := errors.AsType[*verdict.Later](err)
		switch {
		case wait && o.State() == protocol.Doubt: // the same append settles it
			if !(delivery{o}).pause(ctx, later, try) {
				return errors.Join(ctx.Err(), o.life.quit.Err())
			}
		case wait:
			l.errand.postpone(later.After)
			o.p.process.Log.Info("a dead letter will be retried later", "topic", o.p.id.Topic, "partition", o.p.id.Number, "offset", of.Offset, "reason", later.Err)
			return nil
		case err != nil:
			return err
		case out.is == stays && of.State == deadletter.Waiting && l.settle.State == deadletter.Replayed:
			l.dies()
		case l.why != "":
			return e.stays(ctx, l)
		case out.is == committed:
			if o.chain.Tail().Kind == ledger.Letter { // else it was an attempt before this one, and the next look tries again
				o.p.process.Log.Info("a dead letter was settled", "topic", o.p.id.Topic, "partition", o.p.id.Number, "what", l.settle.Info(), "answer", l.settle.Answer)
			}
			return nil
		}
	}
}

// stays leaves a letter as it is. It reports the reason to the operator who made the request or,
// for a parked record, in the log; a parked record is retried later.
func (e *errands) stays(ctx context.Context, l *letter) error {
	o := e.o
	if l.open.State != deadletter.Dead {
		l.errand.postpone(lookEvery)
		o.p.process.Log.Error("a record that waits behind a dead letter of its record key cannot be applied", "topic", o.p.id.Topic, "partition", o.p.id.Number, "offset", l.open.Offset, "reason", l.why)
		return nil
	}
	if l.settle.Other {
		l.why += "; its effect already has a result, which is used instead of the one that was given: repair the rows, or discard the letter"
	}
	return e.answer(ctx, l)
}

// answer records in the letter's row why it stays as it is.
func (e *errands) answer(ctx context.Context, l *letter) error {
	o := e.o
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	conn, err := o.p.process.Pool.Acquire(ctx, o.tellLater)
	if err == nil {
		defer conn.Release()
		err = deadletter.Answer(ctx, conn.Conn(), o.chain.Stream(), l.open, verdict.Storable(l.why), l.returned(), l.response())
	}
	args := []any{"topic", o.p.id.Topic, "partition", o.p.id.Number, "offset", l.open.Offset, "reason", l.why}
	if err != nil {
		l.errand.postpone(0)
		o.p.process.Log.Warn("a dead letter stays dead, and the answer to the request cannot be written", append(args, "err", verdict.Describe(err))...)
		return nil
	}
	o.p.process.Log.Warn("a dead letter stays dead: its record was rejected again", args...)
	return nil
}

// of returns the state of a request.
func (e *errands) of(l *deadletter.Open) *errand {
	if e.tried == nil {
		e.tried = map[deadletter.Place]*errand{}
	}
	at := placeOf(l)
	if known := e.tried[at]; known == nil || !known.asked.Equal(l.AskedAt) {
		if e.desk != nil { // of an earlier request, which was withdrawn
			e.desk.Withdraw(func(offset int64) bool { return offset == l.Offset })
		}
		e.tried[at] = &errand{asked: l.AskedAt, lines: linesOf(l), key: l.OrderKey, retry: retry.New()}
	}
	return e.tried[at]
}

// keep drops requests that are no longer pending.
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
	e.desk.Withdraw(func(offset int64) bool { return !offsets[offset] })
	return nil
}

// held returns the requests whose time has not come, and the lines that they hold up.
func (e *errands) held(now time.Time) (h deadletter.Held, lines map[string]bool) {
	lines = map[string]bool{}
	for at, known := range e.tried {
		if now.Before(known.after) {
			h.Letters = append(h.Letters, at)
			hold(lines, known.lines)
			if known.key != nil {
				h.Keys = append(h.Keys, *known.key)
			}
		}
	}
	return h, lines
}

// parked reports whether a parked record must stay parked, because a record before it is dead
// again.
func (e *errands) parked(l *deadletter.Open) bool {
	if l.State != deadletter.Waiting {
		return false
	}
	q, _ := e.o.parked.Find(*l.OrderKey)
	return q.Dead > 0
}

// rest sets the time of the next look. It reports true if that is now, after it has waited for
// calls of letters as long as records may wait. The time since began, when the look that found
// nothing to do started, counts as waiting.
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

// postpone retries a request after a pause; 0 means a pause that grows.
func (e *errand) postpone(after time.Duration) {
	e.calls = false
	e.tries++
	if after == 0 {
		after = backoff.Pause(e.tries, backoff.Initial, lookEvery)
	}
	e.after = time.Now().Add(after)
}

// look schedules an early check whether what a request waits for has ended.
func (e *errand) look() {
	e.looks++
	e.after = time.Now().Add(backoff.Pause(e.looks, 5*time.Millisecond, callLook))
	e.calls = true
}
