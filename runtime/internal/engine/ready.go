package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// ready returns how many of the first records may be sent now: those before the first one that
// cannot be decoded yet, or whose effect has not ended. It begins the effects, and returns when
// the first record need not wait. In a state other than READY a transaction comes first: it
// settles what is in doubt, or finds that it must wait.
func (o *Owner) ready(ctx context.Context, records []wire.Message) (n int, err error) {
	if n, err = o.prepare(ctx, records); err != nil {
		o.p.tell(o, err)
		return 0, err
	}
	records = records[:n]
	for o.desk != nil && n > 0 && o.State() == protocol.Ready {
		if records[n-1].Offset >= o.foreseen.next {
			d := o.foresee(ctx, o.batch(records))
			if d == nil {
				break
			}
			o.foreseen = foreseen{d.Next(), d.Waiting}
		}
		waiting := o.foreseen.of(records)
		o.desk.Start(ctx, mayBegin(o.p.topic, records, waiting), lease.Decision{})
		open := o.open(waiting)
		if open == nil {
			break
		}
		if open.Message.Offset > records[0].Offset {
			o.gather(ctx, waiting, open.Message.Offset)
			if open = o.open(waiting); open == nil {
				break
			}
			return slices.IndexFunc(records, func(m wire.Message) bool { return m.Offset == open.Message.Offset }), nil
		}
		if err := o.await(ctx, open.Message.Offset, open.Event); err != nil {
			return 0, err
		}
	}
	return len(records), nil
}

// gather waits for effects from an offset on, in their order, for as long as a batch waits for its
// records: the records before them are then sent together with theirs.
func (o *Owner) gather(ctx context.Context, waiting []wire.Effect, from int64) {
	late := time.NewTimer(o.limits().BatchWait)
	defer late.Stop()
	for i := range waiting {
		if waiting[i].Message.Offset < from {
			continue
		}
		done := o.desk.Done(waiting[i].Message.Offset)
		if done == nil { // it may not begin yet
			return
		}
		select {
		case <-done:
		case <-late.C:
			return
		case <-o.life.quit.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// foreseen is what was decided of records before they are sent: which effects they wait for. It is
// kept until more records come, one of them becomes a dead letter, or a transaction does not
// commit. If it misses an effect, the transaction finds that it waits.
type foreseen struct {
	next    int64         // the offset after the last record; 0 if nothing was decided
	waiting []wire.Effect // in the order of the records
}

// of returns the effects of records.
func (f *foreseen) of(records []wire.Message) []wire.Effect {
	first, last := records[0].Offset, records[len(records)-1].Offset
	for len(f.waiting) > 0 && f.waiting[0].Message.Offset < first {
		f.waiting = f.waiting[1:]
	}
	n := slices.IndexFunc(f.waiting, func(e wire.Effect) bool { return e.Message.Offset > last })
	if n < 0 {
		n = len(f.waiting)
	}
	return f.waiting[:n]
}

// open returns the first effect without an outcome; nil if all have one.
func (o *Owner) open(waiting []wire.Effect) *wire.Effect {
	results, refused := o.desk.Outcomes()
	for i := range waiting {
		offset := waiting[i].Message.Offset
		_, over := results[offset]
		if !over && !slices.ContainsFunc(refused, func(l deadletter.Letter) bool { return l.Message.Offset == offset }) {
			return &waiting[i]
		}
	}
	return nil
}

// prepareTime limits the time that records wait, in one attempt, until they can be decoded.
const prepareTime = 10 * time.Second

// prepare returns how many of the first records can be decoded now. If none can, they are retried
// later: if the schema registry does not respond, no record is at fault.
func (o *Owner) prepare(ctx context.Context, records []wire.Message) (int, error) {
	if o.p.topic.Prepare == nil || len(records) == 0 {
		return len(records), nil
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	defer context.AfterFunc(o.life.quit, cancel)()
	n, err := o.p.topic.Prepare(ctx, records)
	switch {
	case err == nil:
		return n, nil
	case o.life.quit.Err() != nil:
		return 0, o.ended()
	}
	return 0, &verdict.Later{Err: err}
}

// foresee decides what will be sent, so that effects can begin. While they run, no connection is
// held. It returns nil if that cannot be decided now: the transaction will then report why.
func (o *Owner) foresee(ctx context.Context, w *work) (d *decide.Decision) {
	defer func() {
		if r := recover(); r != nil {
			o.decider.Discard()
			d = nil
		}
	}()
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	conn, err := o.p.process.Pool.Acquire(ctx, o.tellLater)
	if err != nil {
		return nil
	}
	defer pool.Release(conn)
	if d, err = o.decide(ctx, conn.Conn(), w); err != nil {
		return nil
	}
	return d
}

// mayBegin returns the effects that may begin. If the topic parks records behind dead letters, an
// effect begins only after all earlier records of its record key have been applied: until then it
// is unknown whether the record must be parked behind one of them.
func mayBegin(topic *wire.Topic, records []wire.Message, waiting []wire.Effect) []wire.Effect {
	behind := map[int64]bool{} // another record of their key, by offset
	seen := map[string]bool{}  // record keys as they were sent; those of effects are unpacked
	for i := range records {
		if m := &records[i]; m.Key != nil {
			behind[m.Offset] = seen[string(m.Key)]
			seen[string(m.Key)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(waiting), func(e wire.Effect) bool {
		return behind[e.Message.Offset] && (e.Policy.Park || topic.OnFailure.Park)
	})
}

// await waits for the effect of the first record. If that takes long, it checks from time to time
// whether the owner still has the partition, and whether there are operators' requests.
func (o *Owner) await(ctx context.Context, offset int64, event string) error {
	if o.first.offset != offset || o.first.since.IsZero() {
		o.first = first{offset, time.Now()}
	}
	o.p.awaiting(&awaited{offset, "effect " + event + ", which runs, or for a process that has its lease"})
	look, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	err := o.desk.Wait(look, offset)
	o.p.awaiting(nil)
	if err == context.DeadlineExceeded && ctx.Err() == nil { // of look
		o.sayWhy(event)
		if err := o.inspect(ctx); err != nil {
			return err
		}
		return o.errands.run(ctx, false)
	}
	o.tellEffect(nil)
	if h, ok := errors.AsType[*verdict.Halt](err); ok {
		return o.refuse(h)
	}
	if err != nil && o.life.quit.Err() != nil {
		return o.ended()
	}
	return err
}

// sayWhy reports what the first record's effect waits for, unless its call is running here.
func (o *Owner) sayWhy(event string) {
	what := o.desk.Why(o.first.offset)
	if what == "" {
		o.tellEffect(nil)
		return
	}
	since := o.first.since.UTC().Format(time.RFC3339)
	o.tellEffect(&verdict.Later{Err: fmt.Errorf("effect %s, offset %d, has waited since %s for %s", event, o.first.offset, since, what)})
}

// first is the record for whose effect the partition waits.
type first struct {
	offset int64
	since  time.Time
}

// refuse halts a partition that is READY.
func (o *Owner) refuse(h *verdict.Halt) error {
	why := o.p.halted(h)
	if err := o.step(protocol.Refused, why); err != nil {
		return err
	}
	return why
}

// newDesk returns a desk for effects of an owner. tell gets for Health why they make no progress.
func (o *Owner) newDesk(tell func(error)) Desk {
	return o.p.process.Calls.Desk(DeskOwner{
		Partition: o.p.id, Quit: o.life.quit, Topic: o.chain.Topic, Gone: o.chain.Gone, Began: o.began, Elsewhere: o.elsewhere,
		Tell: func(why error) {
			if why != nil {
				why = &verdict.Later{Err: why}
			}
			tell(why)
		},
	})
}
