package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/lag"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Owner applies records to one partition. Its memory is a function of the chain up to its tail. It
// moves forward only when its own append is acknowledged, or when it finds that an append in doubt
// has committed. Only one goroutine may use it at a time.
type Owner struct {
	p       *Partition
	chain   *chain.Chain
	keys    *keys.Memory
	retry   *retry.State
	decider *decide.Decider
	// statements are the statements of the topic, by their texts.
	statements map[string]session.Statement
	desk       Desk          // nil if no event of the topic has an effect
	pace       time.Duration // of a statement in the last transaction with handlers
	spare      []pending     // empty: memory for what the next one sends
	errands    errands
	foreseen   foreseen
	parked     deadletter.Parked // which record keys wait behind a dead letter
	life       *life
	first      first
	// restores means that settings of the session are restored after each statement of the topic.
	restores bool
	// durable is the mark of the tail; nil until the chain has been read: a hint for a partition
	// without a chain would halt the next owner.
	durable atomic.Pointer[ledger.Mark]
	// committed returns what the group has committed for the topic's partitions; nil if there is no
	// broker.
	committed func(context.Context) (map[int32]idemtype.Commit, error)
	called    atomic.Int64 // effects of records below this offset may have been called
	adrift    atomic.Bool  // it was given up with a batch in flight, which still uses the chain
}

// seen returns the time before which the partition has read everything that was appended; zero if
// that is not known. What is applied without a broker is all that there is.
func (p *Partition) seen() time.Time {
	if p.brokerless {
		return time.Now()
	}
	return p.lag.Seen()
}

func newOwner(p *Partition) *Owner {
	s := p.process
	o := &Owner{
		p: p, chain: &chain.Chain{Now: s.Keys.Now}, keys: keys.New(s.Keys, p.id, p.topic, p.seen), retry: retry.New(),
		decider: decide.New(s.Service, p.topic, s.Catalog), life: newLife(),
	}
	o.errands.o = o
	if p.topic.Effects > 0 {
		o.desk, o.errands.desk = o.newDesk(o.tellCalls), o.newDesk(o.tellLetters)
	}
	return o
}

// Chain returns the partition's chain as the owner knows it.
func (o *Owner) Chain() *chain.Chain { return o.chain }

// Keys returns the owner's memory of keys.
func (o *Owner) Keys() *keys.Memory { return o.keys }

// State returns the state of the owner's partition.
func (o *Owner) State() protocol.State { return o.p.State() }

// end marks the memory as discarded, for the reason err.
func (o *Owner) end(why error) {
	o.life.end(why)
	o.keys.Free()
}

// ended returns why the memory was discarded.
func (o *Owner) ended() error {
	if why := o.life.over.Load(); why != nil {
		return *why
	}
	return o.p.fenced(givenUp)
}

// step takes the protocol's step for an event, and keeps or discards the memory.
func (o *Owner) step(e protocol.Event, why error) error {
	memory, err := o.p.next(o, e, why)
	if err == nil && memory == protocol.Load {
		o.keepDurable()
		o.p.lag.At(o.chain.Next(), time.Now())
	}
	return err
}

// advance takes the step for an append of ours that is known to be in the chain, and moves the
// memory forward to it.
func (o *Owner) advance(e protocol.Event, c chain.Committed) outcome {
	a := c.Attempt()
	memory, err := o.p.next(o, e, nil)
	if err != nil {
		return outcome{is: over, result: a.Result, err: err}
	}
	if memory == protocol.Forward || memory == protocol.Adopt {
		o.forward(c)
		o.p.progressed()
	}
	return outcome{is: committed, result: a.Result}
}

// forward moves the memory forward.
func (o *Owner) forward(c chain.Committed) {
	a := c.Attempt()
	o.chain.Settle(c)
	o.keys.Forward(o.chain.Tail(), a.Row, a.Claims)
	o.parked.Forward(a.Moves)
	o.tellParked()
	if len(a.Letters) > 0 || len(a.Moves) > 0 {
		o.foreseen = foreseen{} // others may wait behind it, or take effect in its place
	}
	if a.Row.Kind == ledger.Batch {
		o.retry.Advanced(a.Row.Next)
	}
	if o.desk != nil {
		o.desk.Passed(a.Row.Next)
	}
	o.life.forward = time.Now()
	o.keepDurable()
	o.p.process.Counters.add(a.Result)
	o.p.lag.Add(a.Result, a.Row.Next, time.Now())
	hooks := o.p.process.Hooks
	for i := range a.Letters {
		if l := &a.Letters[i]; !l.Waits {
			o.p.process.warn(o.p.id, l)
			hooks.DeadLetter(o.p.id, hook.Letter{Offset: l.Message.Offset, Event: l.Event, Reason: l.Reason, Conflict: l.Conflict})
		}
	}
	hooks.Events(o.p.id, a.Events)
	if o.p.process.logsEvents() {
		for _, e := range a.Events {
			o.p.process.Log.Debug("event", "topic", o.p.id.Topic, "partition", o.p.id.Number, "offset", e.Offset, "event", e.Name, "outcome", e.Outcome)
		}
	}
}

// tellParked updates the partition's gauge of parked records.
func (o *Owner) tellParked() {
	keys, records := o.parked.Len()
	o.p.lag.Parked(lag.Parked{Keys: keys, Records: records})
}

// fenced discards the memory, because another row is where ours should be, or ours is gone.
func (o *Owner) fenced(e protocol.Event, reason string) outcome {
	o.p.process.Counters.Fenced.Add(1)
	why := o.p.fenced(reason)
	if err := o.step(e, why); err != nil {
		why = err
	}
	return outcome{is: over, err: why}
}

// limits returns the limits of the spec.
func (o *Owner) limits() *wire.Limits { return &o.p.process.Service.Limits }

// Next returns the offset of the next record to apply.
func (o *Owner) Next() int64 { return o.chain.Next() }

// Apply first carries out operators' requests, if it is time to look for them, or if there are no
// records. Then it counts the records that Kafka delivered again and applies the others, in as
// many transactions as needed. It calls the hooks for the beginning and the end of the batch.
func (o *Owner) Apply(ctx context.Context, records []wire.Message) (idemtype.Result, error) {
	var res idemtype.Result
	if err := o.errands.run(ctx, len(records) == 0); err != nil {
		return res, err
	}
	hooks := o.p.process.Hooks
	ctx = hooks.BatchStart(ctx, o.p.id, len(records))
	rest := o.unseen(records)
	if len(rest) > 0 {
		o.p.process.Keys.Times.Note(&rest[len(rest)-1])
	}
	if n := int64(len(records) - len(rest)); n > 0 {
		res.Duplicates = n
		o.p.process.Counters.Redelivered.Add(n)
		o.p.lag.Redelivered(n)
	}
	done, err := o.apply(ctx, rest)
	res = res.Plus(done)
	hooks.BatchEnd(ctx, o.p.id, res, err)
	if err == nil {
		o.keepSeen(ctx)
	}
	return res, err
}

// apply applies records from the position on. It waits until the first one may be sent, sends as
// many as possible, and handles the outcome.
func (o *Owner) apply(ctx context.Context, records []wire.Message) (idemtype.Result, error) {
	var res idemtype.Result
	for rest := records; len(rest) > 0; rest = o.unseen(rest) {
		o.p.lag.First(rest[0].Offset, rest[0].Time)
		n, err := o.ready(ctx, rest[:o.retry.Size(len(rest))])
		if err != nil {
			return res, err
		}
		w := o.batch(rest[:n])
		out := o.transact(ctx, w)
		res = res.Plus(out.result)
		if err := o.conclude(w, out); err != nil {
			return res, err
		}
	}
	return res, nil
}

// unseen drops the records below the position.
func (o *Owner) unseen(records []wire.Message) []wire.Message {
	for len(records) > 0 && records[0].Offset < o.chain.Next() {
		records = records[1:]
	}
	return records
}

const halveAfter = 3 // attempts of a whole batch before half of it is attempted

// delivery is a batch of records that a Source delivers, until they are durable.
type delivery struct{ o *Owner }

// run retries until the records are durable, the partition is gone, or an operator must act.
func (d delivery) run(ctx context.Context, records []wire.Message) error {
	o := d.o
	for try := 1; ; try++ {
		_, err := o.Apply(ctx, records)
		later, wait := errors.AsType[*verdict.Later](err)
		if !wait {
			return err
		}
		if !d.pause(ctx, later, try) {
			return errors.Join(ctx.Err(), o.life.quit.Err())
		}
		if rest := o.unseen(records); len(rest) < len(records) {
			records, try = rest, 0
		} else if try >= halveAfter {
			o.retry.Halve(len(records))
		}
	}
}

// pause waits before the next attempt or, during an outage of the database, until it ends. It
// reports false if the partition is given up or the process ends.
func (d delivery) pause(ctx context.Context, later *verdict.Later, try int) bool {
	o := d.o
	wait := backoff.Pause(try, backoff.Initial, backoff.Most)
	if later.After > 0 {
		wait = later.After
	}
	o.p.process.Counters.Waits.Add(1)
	o.p.process.Hooks.Retry(o.p.id, hook.Pause{Try: try, Wait: wait, Err: later.Err})
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.life.quit, cancel)()
	return backoff.Sleep(both, wait) && (!verdict.Away(later) || o.p.process.Prober.Wait(both, o.tellLater) == nil)
}

// outcome is the outcome of a transaction.
type outcome struct {
	is     ending
	result idemtype.Result // outcomes of the records, if the memory moved
	err    error           // of failed, unsent and over
	halt   *verdict.Halt   // of halts
}

type ending uint8

const (
	committed ending = iota // it is in the chain, and the memory moved forward
	failed                  // it was not acknowledged: err may leave open whether it committed
	unsent                  // there was no connection, so nothing was sent
	waits                   // nothing was sent: the first record waits for its effect
	stays                   // nothing was sent: the letter's record is rejected again
	halts                   // an operator must act, whatever the database reports
	over                    // the owner's memory was discarded, and the step for that was taken
)

// failure returns the outcome of a transaction that was not acknowledged. For some errors an
// operator must act: the spec says stop, or a handler ended the transaction.
func failure(err error) outcome {
	if h, ok := errors.AsType[*verdict.Halt](err); ok {
		return outcome{is: halts, halt: h}
	}
	return outcome{is: failed, err: err}
}

// conclude handles the outcome of a transaction, and takes the protocol's step for it. It returns
// nil if the owner can continue immediately, and otherwise an error for the caller.
func (o *Owner) conclude(w *work, out outcome) error {
	switch out.is {
	case committed:
		w.retries.Passed(len(w.records) - len(o.unseen(w.records)))
		return nil
	}
	o.foreseen = foreseen{}
	switch out.is {
	case waits, stays:
		return o.step(protocol.Awaits, nil)
	case unsent: // whatever the error is, no record is at fault
		wait := &verdict.Later{Err: outage.InWords(verdict.Describe(out.err))}
		o.p.tell(o, wait)
		return wait
	case halts:
		h := out.halt
		if w.letter != nil {
			h = w.letter.before(h)
		}
		return o.halt(o.p.halted(h))
	case over:
		return out.err
	}
	v := verdict.Judge(out.err, len(w.records))
	if v.Locked {
		o.chain.Locked()
	}
	if v.Doubt {
		o.chain.Doubt()
		o.p.process.Pool.Doubt()
	}
	next := w.retries.Next(w.records, v, about(o.decider, w))
	if w.letter != nil {
		return w.letter.follow(next)
	}
	return o.follow(next)
}

// follow handles a failed transaction.
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

// halt halts the partition until an operator acts.
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

// about returns the retry state of a record that was alone in a transaction.
func about(d *decide.Decider, w *work) retry.About {
	if len(w.records) != 1 {
		return retry.About{}
	}
	m := &w.records[0]
	policy := d.Policy(m)
	if l, ok := w.retries.Refused()[m.Offset]; ok {
		policy = l.Policy
	}
	return retry.About{Event: d.Event(), Policy: policy}
}
