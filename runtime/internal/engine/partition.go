package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/lag"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Partition is a partition while it is assigned: its state in the protocol's table, and everything
// that outlives its memory. The memory is an [Owner]; once a step discards it, it is never used
// again.
type Partition struct {
	process *Process
	id      idemtype.Partition
	topic   *wire.Topic
	lag     lag.Gauge // has a lock of its own

	telling sync.Mutex // held during a step and its calls of hooks, so that they are called in the order of the steps

	mu     sync.Mutex
	state  protocol.State
	owner  *Owner // the owner that is fencing, or whose memory is kept; otherwise nil
	status status // for operators

	brokerless bool // the records come from no broker
	// paused is the mark of the row that pauses the partition, for Kafka: the pause may be lost, too.
	paused atomic.Pointer[ledger.Mark]

	// Used only by the goroutine on which the Source calls.
	standby    standby
	truncation truncation
}

// NewPartition returns a partition that has not been taken over.
func NewPartition(process *Process, id idemtype.Partition) (*Partition, error) {
	topic := process.Service.Topic(id.Topic)
	if topic == nil {
		return nil, fmt.Errorf("idem: topic %q is not in the spec", id.Topic)
	}
	return &Partition{process: process, id: id, topic: topic}, nil
}

// begin gives the partition a new owner without a memory, which must fence first.
func (p *Partition) begin() *Owner {
	o := newOwner(p)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != protocol.Fencing { // it has been given up since the step was taken
		o.end(p.fenced(givenUp))
		return o
	}
	p.owner = o
	p.paused.Store(nil)
	return o
}

// State returns the partition's state in the protocol's table.
func (p *Partition) State() protocol.State {
	s, _ := p.at()
	return s
}

// at returns the partition's state, and why it makes no progress.
func (p *Partition) at() (protocol.State, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, p.status.why
}

// current returns the owner, or nil if there is none.
func (p *Partition) current() *Owner {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owner
}

// step takes the protocol's step for an event of the partition. why is the reason to report.
func (p *Partition) step(e protocol.Event, why error) error {
	_, err := p.next(nil, e, why)
	return err
}

// next changes to the protocol's next state. An owner whose memory was discarded takes no more
// steps. A step that is not in the table is a bug, and halts the partition.
func (p *Partition) next(o *Owner, e protocol.Event, why error) (protocol.Memory, error) {
	p.telling.Lock()
	defer p.telling.Unlock()
	p.mu.Lock()
	if o != nil && p.owner != o {
		p.mu.Unlock()
		return protocol.Discard, o.ended()
	}
	from, was := p.state, p.status.why
	next, memory, ok := protocol.Next(from, e)
	if !ok {
		why = p.halted(&verdict.Halt{Code: halt.Runtime, Offset: -1, Reason: fmt.Sprintf("state %v does not allow %q: please report it", from, e)})
		next, memory, _ = protocol.Next(from, protocol.Bug)
	}
	p.state = next
	p.noteLag(next, why)
	old := p.owner
	if memory == protocol.Discard {
		p.owner, p.status.since, p.status.call, p.status.letter, p.status.effect = nil, time.Time{}, nil, nil, nil
	}
	if next != protocol.Sent && e != protocol.Rested { // a batch in flight is not reported
		p.show(from, next, why)
	}
	p.mu.Unlock()
	p.tellState(from, next, was, why)
	if memory == protocol.Discard && old != nil {
		if !old.adrift.Load() {
			p.standby.begin(old)
		}
		old.end(cmp.Or(why, p.fenced(givenUp)))
	}
	if !ok {
		return memory, why
	}
	return memory, nil
}

// tellState calls hooks for a step to another state. Batches have hooks of their own: to state
// hooks, a partition with a batch in flight is READY.
func (p *Partition) tellState(from, to protocol.State, was, why error) {
	told := func(s protocol.State) protocol.State {
		if s == protocol.Sent {
			return protocol.Ready
		}
		return s
	}
	if from, to = told(from), told(to); from != to {
		p.process.Hooks.State(p.id, named(from, was), named(to, why), why)
	}
}

// noteLag updates the gauge: whether the partition is halted, and whether its position is known
// not to belong to the log.
func (p *Partition) noteLag(s protocol.State, why error) {
	switch s {
	case protocol.Off, protocol.Fencing, protocol.Standby, protocol.Halted:
	default:
		p.lag.Works()
		return
	}
	_, lost := errors.AsType[*aheadError](why)
	if halted, ok := errors.AsType[*idemtype.HaltedError](why); ok {
		switch halted.Code {
		case halt.TopicRecreated, halt.LogTruncated, halt.LedgerMissing, halt.LedgerGone:
			lost = true
		}
	}
	p.lag.Stands(lost, time.Now())
}

// Reasons of an [idemtype.FencedError] that another owner did not cause.
const (
	givenUp       = "the partition was given up"
	operatorActed = "an operator appended to the ledger" // harmless: the partition is taken over again immediately
	notTaken      = "the partition is not assigned, or must be taken over first"
)

func (p *Partition) fenced(reason string) error {
	return &idemtype.FencedError{Partition: p.id, Reason: reason}
}

// NotTaken is the error of calls for a partition that is not assigned.
func NotTaken(id idemtype.Partition) error {
	return &idemtype.FencedError{Partition: id, Reason: notTaken}
}

// halted returns the error of a halt, with the ways that end it.
func (p *Partition) halted(h *verdict.Halt) *idemtype.HaltedError {
	err := &idemtype.HaltedError{Partition: p.id, Offset: h.Offset, Code: h.Code, Reason: h.Reason, Err: h.Err}
	ways := h.Ways
	if len(ways) == 0 {
		ways = []halt.Way{{}}
	}
	for _, w := range ways {
		w.Code, w.Consumer, w.Topic, w.Partition = h.Code, p.process.Service.Consumer, p.id.Topic, p.id.Number
		err.Ways = append(err.Ways, w)
	}
	record := h.Code == halt.RecordRefused || h.Code == halt.LetterRefused
	if h.Offset >= 0 && (record || h.Pass && h.Code == halt.Database) { // which rarely has to do with the record
		err.Ways = append(err.Ways, err.Ways[0].Pass(h.Offset))
	}
	return err
}

// Durable returns what may be committed to Kafka.
func (p *Partition) Durable() idemtype.Commit {
	if o := p.current(); o != nil {
		return committing(o.mark())
	}
	return committing(p.paused.Load())
}

// GiveUp prevents further transactions, waits for the one in flight, then cancels it and leaves
// it to the next owner's fence. The memory is discarded with the owner. lost means that another
// member may own the partition already: GiveUp then does not wait. It returns what may be
// committed to Kafka.
func (p *Partition) GiveUp(wait time.Duration, lost bool) idemtype.Commit {
	last := p.paused.Load()
	if o := p.current(); o != nil {
		o.life.giveUp()
		rests := o.life.atRest(wait)
		o.adrift.Store(!rests)
		if rests && lost {
			o.handBack()
		}
		last = o.mark()
	}
	_ = p.step(protocol.Revoked, nil) // leads to Off from every state
	p.paused.Store(nil)
	return committing(last)
}

// Deliver applies records, in offset order, and returns when they are durable.
func (p *Partition) Deliver(ctx context.Context, records []wire.Message) error {
	o := p.current()
	if o == nil {
		return NotTaken(p.id)
	}
	if err := o.life.begin(ctx); err != nil {
		return err
	}
	defer o.life.rest()
	p.waiting(true)
	defer p.waiting(false)
	return delivery{o}.run(ctx, records)
}

// Idle checks a partition that has had no records for a while: whether its chain has changed,
// whether its position may advance to end, below which there are no more records, and whether
// there are operators' requests about dead letters.
func (p *Partition) Idle(ctx context.Context, end int64) error {
	o := p.current()
	if o == nil {
		return p.checkPermission(ctx)
	}
	if err := o.life.begin(ctx); err != nil {
		return err
	}
	defer o.life.rest()
	check := o.inspect
	if end > o.chain.Next() {
		check = func(ctx context.Context) error { return o.pass(ctx, end) }
	}
	if err := check(ctx); err != nil {
		return err
	}
	return o.errands.run(ctx, true)
}

// life is the time from a take-over until the partition is given up, or the memory discarded.
type life struct {
	began   time.Time
	forward time.Time // when the owner last moved forward

	// quit ends when the partition is given up: no further transaction begins. whole ends when the
	// last transaction must also end.
	quit, whole   context.Context
	giveUp, abort context.CancelFunc
	idle          chan struct{}         // contains a token while the owner is not in use
	wanted        atomic.Int64          // number of callers that wait for it
	over          atomic.Pointer[error] // why the life has ended
}

func newLife() *life {
	l := &life{began: time.Now(), idle: make(chan struct{}, 1)}
	l.whole, l.abort = context.WithCancel(context.Background())
	l.quit, l.giveUp = context.WithCancel(l.whole)
	l.idle <- struct{}{}
	return l
}

// end ends the life. The first reason is kept.
func (l *life) end(why error) {
	l.over.CompareAndSwap(nil, &why)
	l.abort()
}

// begin waits until the owner is not in use, and reserves it; rest releases it.
func (l *life) begin(ctx context.Context) error {
	l.wanted.Add(1)
	defer l.wanted.Add(-1)
	select {
	case <-l.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *life) rest() { l.idle <- struct{}{} }

// atRest waits until the owner is no longer in use, and reserves it permanently. It reports
// whether that succeeded in time.
func (l *life) atRest(wait time.Duration) bool {
	select {
	case <-l.idle:
		return true
	default:
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-l.idle:
		return true
	case <-t.C:
		return false
	}
}
