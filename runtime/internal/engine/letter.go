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

// letter is a dead letter that is settled as an operator asks, or a record that waited behind one.
// It moves no position, and ends the count of dead letters in a row, as every row does that an
// operator asked for.
type letter struct {
	e       *errands
	open    *deadletter.Open
	errand  *errand
	settle  *deadletter.Settling
	why     string             // why it stays as it is; "" if it does not
	refused *deadletter.Letter // what its record would become now, if it was decided
}

// work is the letter's record to be applied, if it is replayed, and the letter to be settled.
func (l *letter) work() *work {
	return &work{records: l.records(), letter: l, retries: l.errand.retry, desk: l.e.desk}
}

// records are the letter's record, if it is replayed.
func (l *letter) records() []wire.Message {
	if l.settle.State != deadletter.Replayed {
		return nil
	}
	return []wire.Message{l.open.Message}
}

// accepts refuses to settle a letter whose record is refused again, and a result for a record that
// takes effect without one.
func (l *letter) accepts(d *decide.Decision) bool {
	switch {
	case len(d.Letters) > 0:
		refused := d.Letters[0]
		l.why, l.refused = refused.Reason, &refused
	case l.settle.Gives() && d.Result.Applied > 0 && len(d.Effects) == 0:
		l.why = "its event has no effect, so that no result of one can be given"
	default:
		l.settle.Decided(d.Result, d.Effects)
	}
	return l.why == ""
}

// row counts what became of the record, as for one of a batch: a letter that is replayed applies
// it, and a record that waited and is refused is dead from here on.
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

// ending is the last statement of the transaction.
func (l *letter) ending() pipeline.Statement {
	c := l.e.o.chain
	return l.settle.Statement(c.Stream(), c.Seq())
}

// follow does what follows from a failed transaction. It halts no partition that the letter's
// record is refused again, and while the letter waits, the partition makes progress nevertheless.
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

// before is a halt for the letter's record. The partition has passed it, so it halts at its
// position.
func (l *letter) before(h *verdict.Halt) *verdict.Halt {
	at := *h
	at.Reason = fmt.Sprintf("replay of the dead letter at offset %d: %s", h.Offset, h.Reason)
	at.Offset, at.Pass = l.e.o.chain.Next(), false
	return &at
}

// glance is how long a letter waits for its effect before others have their turn.
const glance = 5 * time.Millisecond

// ready begins the effect of a letter that is replayed, as the person who asked decided, and looks
// whether it is over. Whatever becomes of it halts no partition: then the letter stays.
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
		waiting := slices.Clone(d.Waiting) // the next decision takes their place
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

// result is what the letter's effect returned, as a person says, or as its row kept it: the store
// may have forgotten it.
func (l *letter) result() []byte {
	if l.open.Result == nil {
		return l.open.Returned
	}
	return l.open.Result
}

// fits reports whether the result that was given is one of the letter's effect. An effect that has
// no result takes any, whereas one that has a result never takes null.
func (l *letter) fits(known *keys.Known) bool {
	if why := l.refuses(known, l.open.Result); why != "" {
		l.why = "the result that was given does not fit: " + why
	} else if !bytes.Equal(l.open.Result, deadletter.NoResult) && l.refuses(known, deadletter.NoResult) == "" {
		l.why = "its effect has no result: give null"
	}
	return l.why == ""
}

// refuses decides the letter's record with a result of its effect. Nothing is kept.
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

// dies has a record that waited become a dead letter, for the reason that it was refused.
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

// returned is what the call of the letter's effect returned; nil if none was made and recorded.
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
