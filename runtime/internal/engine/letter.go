package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// letter is a dead letter that an operator's request settles, or a record that was parked behind
// one. It does not move the position. It resets the count of dead letters in a row, as every row
// does that an operator requested.
type letter struct {
	e       *errands
	open    *deadletter.Open
	errand  *errand
	settle  *deadletter.Settling
	why     string             // why it stays as it is; "" if it is settled
	refused *deadletter.Letter // the dead letter that its record would become again, once decided
}

// work returns the work to settle the letter and, if it is replayed, to apply its record.
func (l *letter) work() *work {
	return &work{records: l.records(), letter: l, retries: l.errand.retry, desk: l.e.desk}
}

// records returns the letter's record, if it is replayed.
func (l *letter) records() []wire.Message {
	if l.settle.State != deadletter.Replayed {
		return nil
	}
	return []wire.Message{l.open.Message}
}

// accepts returns false for a letter whose record is rejected again, and for a result of a record
// that takes effect without one.
func (l *letter) accepts(d *decide.Decision) bool {
	switch {
	case len(d.Letters) > 0:
		refused := d.Letters[0]
		l.why, l.refused = refused.Reason, &refused
	case l.settle.Gives() && d.Result.Applied > 0 && len(d.Effects) == 0:
		l.why = "its event has no effect, so it does not accept a result"
	default:
		l.settle.Decided(d.Result, d.Effects)
	}
	return l.why == ""
}

// row counts the outcome of the record, as for a record of a batch: replaying a letter applies it,
// and a parked record that is rejected becomes a dead letter.
func (l *letter) row(a *chain.Attempt, d *decide.Decision, tail ledger.Tail) {
	a.Row.Kind, a.Row.Next, a.Row.Epoch, a.Row.Info = ledger.Letter, tail.Next, tail.Epoch, l.settle.Info()
	a.Row.Letters.First = l.open.Offset
	a.Moves, a.Result = l.settle.Moves(), d.Result
	if dead := l.settle.Dead; dead != nil {
		a.Letters = []deadletter.Letter{*dead}
		if a.Result.Dead = 1; dead.Conflict {
			a.Result = idemtype.Result{Conflicts: 1}
		}
	}
}

// ending returns the last statement of the transaction.
func (l *letter) ending() pipeline.Statement {
	c := l.e.o.chain
	return l.settle.Statement(c.Stream(), c.Seq())
}

// follow handles a failed transaction. If the letter's record is rejected again, that does not
// halt the partition, and while the letter waits, the partition still makes progress.
func (l *letter) follow(n retry.Next) error {
	o := l.e.o
	if h := n.Halt; h != nil && h.Code != halt.Pooler && h.Code != halt.Runtime && o.State() == protocol.Sent {
		l.why = h.Error()
		return o.step(protocol.Data, nil)
	}
	if n.Later != nil && n.Event != protocol.Unknown {
		if err := o.step(n.Event, nil); err != nil {
			return err
		}
		return n.Later
	}
	if n.Halt != nil {
		n.Halt = l.before(n.Halt)
	}
	return o.follow(n)
}

// before returns a halt for the letter's record. The partition has already passed that record, so
// it halts at its position.
func (l *letter) before(h *verdict.Halt) *verdict.Halt {
	at := *h
	at.Reason = fmt.Sprintf("replay of the dead letter at offset %d: %s", h.Offset, h.Reason)
	at.Offset, at.Pass = l.e.o.chain.Next(), false
	return &at
}

// glance is how long the owner waits for the effect of a letter before it continues with others.
const glance = 5 * time.Millisecond

// ready begins the effect of a letter that is replayed, with the operator's decision, and checks
// whether it has ended. Its outcome never halts the partition: if it fails, the letter stays.
func (l *letter) ready(ctx context.Context) (is bool, err error) {
	o := l.e.o
	if _, err := o.prepare(ctx, l.records()); err != nil {
		return false, err
	}
	for l.e.desk != nil && o.State() == protocol.Ready {
		d := o.foresee(ctx, l.work())
		if d == nil || len(d.Waiting) == 0 {
			break
		}
		waiting := slices.Clone(d.Waiting) // the next decision overwrites them
		if l.settle.Gives() && !l.fits(d.Known) {
			break
		}
		l.e.desk.Start(ctx, waiting, lease.Decision{Number: l.open.Number, Result: l.result()})
		limited, cancel := context.WithTimeout(ctx, glance)
		err := l.e.desk.Wait(limited, l.open.Offset)
		cancel()
		h, halts := errors.AsType[*verdict.Halt](err)
		switch {
		case halts:
			l.why = h.Error()
			return true, nil
		case err != nil && o.life.quit.Err() != nil:
			return false, o.ended()
		case err != nil && ctx.Err() == nil && limited.Err() != nil:
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return true, nil
}

// result returns the result of the letter's effect, as the operator stated it or as the letter's
// row contains it: the store may no longer have it.
func (l *letter) result() []byte {
	if l.open.Result == nil {
		return l.open.Returned
	}
	return l.open.Result
}

// fits reports whether the effect of the letter accepts the result. An effect without a result
// accepts any, and an effect with a result does not accept null.
func (l *letter) fits(known *keys.Known) bool {
	if why := l.refuses(known, l.open.Result); why != "" {
		l.why = "the result that was given does not fit: " + why
	} else if !bytes.Equal(l.open.Result, deadletter.NoResult) && l.refuses(known, deadletter.NoResult) == "" {
		l.why = "its effect has no result: give null"
	}
	return l.why == ""
}

// refuses decides the letter's record with a result of its effect, and reports whether it is
// rejected. The decision is dropped.
func (l *letter) refuses(known *keys.Known, result []byte) (why string) {
	o := l.e.o
	defer func() {
		if r := recover(); r != nil { // of generated code, or of a handler's type
			o.decider.Discard()
			why = "it cannot be read: " + watchdog.PanicText(r)
		}
	}()
	f := o.facts(l.work(), known)
	f.Effects = map[int64]wire.EffectResult{l.open.Offset: {Result: result}}
	d, err := o.decider.Decide(l.records(), f)
	if err != nil {
		return err.Error()
	}
	if len(d.Letters) > 0 {
		return d.Letters[0].Reason
	}
	return ""
}

// dies makes a parked record a dead letter, with the reason for which it was rejected.
func (l *letter) dies() {
	dead := deadletter.Letter{Message: &l.open.Message, Reason: l.why}
	if l.refused != nil {
		dead = *l.refused
	}
	if returned := l.returned(); returned != nil {
		dead.Returned = returned
	}
	l.settle = &deadletter.Settling{Letter: l.open, State: deadletter.Dead, Answer: l.why, Dead: &dead, Drop: l.e.o.p.topic.OnFailure.Drop}
	l.why = ""
}

// response returns what the other side answered to the call that was refused again; nil if that is
// not known.
func (l *letter) response() []byte {
	if l.refused == nil || l.e.o.p.topic.OnFailure.Drop {
		return nil
	}
	return l.refused.Response
}

// returned returns the recorded result of the letter's effect; nil if there is none.
func (l *letter) returned() []byte {
	if l.e.desk == nil {
		return nil
	}
	results, _ := l.e.desk.Outcomes()
	r, made := results[l.open.Offset]
	if !made {
		return nil
	}
	var kept deadletter.Letter
	kept.Called(r)
	return kept.Returned
}
