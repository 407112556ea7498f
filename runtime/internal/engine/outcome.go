package engine

import (
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// outcome is what became of a transaction.
type outcome struct {
	is     ending
	result idemtype.Result // what records did, if the memory moved
	err    error           // of failed, unsent and over
	halt   *verdict.Halt   // of halts
}

type ending uint8

const (
	committed ending = iota // it is in the chain, and the memory moved forward
	failed                  // it was not acknowledged: err may leave open whether it committed
	unsent                  // there was no connection, so that nothing was sent
	waits                   // nothing was sent: the first record waits for its effect
	stays                   // nothing was sent: the letter's record is refused again
	halts                   // a person must act, whatever the database says
	over                    // the owner's memory is gone, and the step for that was taken
)

// failure is the outcome of a transaction that was not acknowledged. An error may say itself that
// a person must act: the spec says stop, or a handler ended the transaction.
func failure(err error) outcome {
	if h, ok := errors.AsType[*verdict.Halt](err); ok {
		return outcome{is: halts, halt: h}
	}
	return outcome{is: failed, err: err}
}

// conclude decides what follows from the outcome of a transaction, and takes the protocol's step
// for it. It returns nil if the owner can go on at once, and otherwise what its caller must know.
func (o *Owner) conclude(w work, out outcome) error {
	switch out.is {
	case committed:
		w.retries().Passed(len(w.records()) - len(o.unseen(w.records())))
		return nil
	case waits, stays:
		return o.step(protocol.Awaits, nil)
	case unsent: // whatever the error is, no record is to blame
		wait := &verdict.Later{Err: outage.InWords(verdict.Describe(out.err))}
		o.p.tell(o, wait)
		return wait
	case halts:
		return o.halt(o.p.halted(o.before(w, out.halt)))
	case over:
		return out.err
	}
	v := verdict.Judge(out.err, len(w.records()))
	if v.Locked {
		o.chain.Locked()
	}
	if v.Doubt {
		o.chain.Doubt()
		o.p.process.Pool.Doubt()
	}
	return w.follow(w.retries().Next(w.records(), v, about(o.decider, w)))
}

// follow does what follows from a failed transaction.
func (o *Owner) follow(n retry.Next) error {
	if n.Search {
		o.p.process.Counters.Searches.Add(1)
	}
	if n.Halt != nil {
		return o.halt(o.p.halted(n.Halt))
	}
	if n.Later == nil {
		return o.step(n.Event, nil)
	}
	if err := o.step(n.Event, n.Later); err != nil {
		return err
	}
	return n.Later
}

// before is a halt for the record at hand. The partition has passed the record of a dead letter
// that is replayed, so it halts at its position.
func (o *Owner) before(w work, h *verdict.Halt) *verdict.Halt {
	if !w.replays() {
		return h
	}
	at := *h
	at.Reason = fmt.Sprintf("replay of the dead letter at offset %d: %s", h.Offset, h.Reason)
	at.Offset, at.Pass = o.chain.Next(), false
	return &at
}

// halt takes the step of a partition that needs a person.
func (o *Owner) halt(why *idemtype.HaltedError) error {
	event := protocol.Fatal
	if why.Code == halt.Runtime {
		event = protocol.Bug
	}
	if err := o.step(event, why); err != nil {
		return err
	}
	return why
}

// about is what is known of a record that was in a transaction alone.
func about(d *decide.Decider, w work) retry.About {
	if len(w.records()) != 1 {
		return retry.About{}
	}
	m := &w.records()[0]
	policy := d.Policy(m)
	if l, ok := w.retries().Refused()[m.Offset]; ok {
		policy = l.Policy
	}
	return retry.About{Event: d.Event(), Policy: policy}
}
