package confluent

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
)

// state is what the polling goroutine knows of a partition.
type state int

const (
	taking   state = iota // the sink was asked, or will be; nothing is accepted
	standing              // the sink says when to ask again, perhaps after hours
	waiting               // a record must come before the sink is asked; it is dropped
	reading               // the sink told a position
)

// note is what a tenure tells the polling goroutine.
type note struct {
	state state
	at    idem.Position // where to read, if waiting or reading
	round int           // of the queue, if reading
}

// tenure is one assignment of one partition to this process. It is never used twice: a
// partition that comes back gets a new one, which starts when the old one is over.
type tenure struct {
	span
	polled
	compared
	id     idem.Partition
	queue  *queue
	notes  chan note             // at most one is unread
	came   chan struct{}         // rung when the record came that is waited for
	asking sync.Mutex            // held while the sink takes the partition over, or stands by
	lost   atomic.Bool           // the client reads it no more, and its position is right
	passed atomic.Int64          // below it everything is durable; -1 if that is not known
	hinted atomic.Int64          // last offset committed to Kafka
	told   atomic.Pointer[topic] // what the sink was told of the topic
}

// span is from the assignment until the sink has ended its work.
type span struct {
	ctx    context.Context    // ends when the partition is given up
	end    context.CancelFunc // of ctx
	stop   context.CancelFunc // cancels a Deliver that outlasts Revoked
	before <-chan struct{}    // the tenure before it is over
	left   chan struct{}      // closed when hold has returned
	over   chan struct{}      // closed when the sink is not called for it any more
}

// compared is what comparisons with the broker have shown.
type compared struct {
	behind   time.Time // when one first showed records that the client does not hand over
	reported bool      // the sink knows
}

// polled is what belongs to the polling goroutine.
type polled struct {
	state    state
	assigned bool          // is in the client's assignment
	paused   bool          // in the client
	at       idem.Position // last told by the sink
	round    int           // of the queue, told with at
	next     int64         // lowest offset that is accepted
	epoch    int32         // leader epoch of the last record, -1 before the first one
	pressed  int           // moments for which the queue has been full
	quiet    bool          // no record since it was checked last
	since    time.Time     // when those without a record were first seen, or compared last
}

func (t *tenure) position() kafka.TopicPartition {
	tp := kafka.TopicPartition{Topic: &t.id.Topic, Partition: t.id.Number, Offset: kafka.Offset(t.at.Offset)}
	if t.at.Epoch >= 0 {
		tp.LeaderEpoch = &t.at.Epoch
	}
	return tp
}

// begin starts a tenure.
func (r *run) begin(id idem.Partition) *tenure {
	t := &tenure{
		id: id, queue: newQueue(r.sub, r.starving), notes: make(chan note, 1), came: make(chan struct{}, 1),
		span: span{before: r.before[id], left: make(chan struct{}), over: make(chan struct{})},
	}
	t.passed.Store(-1)
	t.hinted.Store(-1)
	t.ctx, t.end = context.WithCancel(r.ctx)
	var deliver context.Context
	deliver, t.stop = context.WithCancel(context.WithoutCancel(r.ctx)) // a transaction begun is finished at shutdown
	r.parts[id], r.before[id] = t, t.over
	r.calls.Go(func() {
		defer close(t.left)
		if t.before != nil {
			<-t.before
		}
		r.hold(t, deliver)
	})
	return t
}

// hold takes the partition over and delivers its records, until it is given up.
func (r *shared) hold(t *tenure, deliver context.Context) {
	for {
		at, err := r.takeOver(t)
		if err == nil {
			t.passed.Store(at.Offset)
			r.note(t, note{reading, at, t.queue.expect()})
			err = r.deliverAll(t, deliver)
		}
		t.queue.shut()
		switch {
		case t.ctx.Err() != nil:
			return
		case errors.Is(err, errAgain):
			r.note(t, note{state: taking})
		case !r.standBy(t, err):
			return
		}
	}
}

// deliverAll hands batches to the sink until one is refused. While there are none, it asks
// the sink now and then whether the partition is still its own.
func (r *shared) deliverAll(t *tenure, ctx context.Context) error {
	for {
		records, drained, err := t.queue.take(t.ctx, r.idle)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			if err := r.sink.Idle(ctx, t.id, t.queue.ended()); err != nil {
				return err
			}
			continue
		}
		if drained {
			r.tell()
		}
		if err := r.sink.Deliver(ctx, t.id, records); err != nil {
			return err
		}
		t.passed.Store(records[len(records)-1].Offset + 1)
		t.queue.release(records)
	}
}

// takeOver asks the broker and the sink where to read, again and again after transient
// errors.
func (r *shared) takeOver(t *tenure) (idem.Position, error) {
	pause, said := r.backoff, ""
	for {
		at, err := r.ask(t)
		if err == nil || stands(err) || t.ctx.Err() != nil {
			return at, err
		}
		if err.Error() != said {
			said = err.Error()
			r.log.Warn("partition cannot be taken over yet; trying again",
				"topic", t.id.Topic, "partition", t.id.Number, "err", err)
		}
		if !sleep(t.ctx, pause/2+rand.N(pause)) {
			return at, t.ctx.Err()
		}
		pause = min(2*pause, r.ceiling)
	}
}

func (r *shared) ask(t *tenure) (idem.Position, error) {
	a, err := r.assignment(t.ctx, t.id)
	if err != nil {
		return idem.Position{}, err
	}
	t.asking.Lock()
	defer t.asking.Unlock()
	if err := t.ctx.Err(); err != nil {
		return idem.Position{}, err
	}
	t.told.Store(&topic{a.TopicID, a.Partitions})
	return r.sink.Assigned(t.ctx, a)
}

// giveUp ends the sink's work on a partition: Assigned and Standby, which must not overlap
// with Revoked, by their context, and a Deliver that waits by Revoked itself.
func (r *shared) giveUp(t *tenure, lost bool) {
	t.asking.Lock()
	if lost {
		r.sink.Lost(t.id)
	} else {
		r.sink.Revoked(t.id)
	}
	t.asking.Unlock() // hold may wait for it before it sees that it is over
	t.stop()
	<-t.left
	close(t.over)
}

func (r *shared) note(t *tenure, n note) {
	select {
	case t.notes <- n:
		r.tell()
	case <-t.ctx.Done():
	}
}

// stands reports whether the sink must be asked by Standby when to go on.
func stands(err error) bool {
	_, halted := errors.AsType[*idem.HaltedError](err)
	_, fenced := errors.AsType[*idem.FencedError](err)
	return halted || fenced
}

// sleep reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
