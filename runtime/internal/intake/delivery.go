package intake

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
)

// Config contains what all deliveries of a source share.
type Config struct {
	Sink idemtype.Sink
	// Describe queries the broker for what the sink must know about a partition.
	Describe func(context.Context, idemtype.Partition) (idemtype.Assignment, error)
	Log      *slog.Logger
	Limits   Limits
	// Backoff is the pause after a failed request, which is doubled up to MaxBackoff.
	Backoff, MaxBackoff time.Duration
	// Idle is the time without a record after which Idle of the sink is called.
	Idle time.Duration
	// Reported is sent when a delivery has a report, or when its partition need no longer be
	// paused.
	Reported Signal
	// Demand is sent when a delivery waits for records.
	Demand Signal
}

// Delivery delivers the records of one assigned partition to the sink, from its assignment until
// it is given up. It is never reused: a partition that is assigned again gets a new one.
type Delivery struct {
	Partition idemtype.Partition
	Queue     *Queue

	config  *Config
	life    lifetime
	asking  sync.Mutex                        // held while the sink takes the partition over, or is in Standby
	topic   Topic                             // what was passed to the sink about it
	leader  int32                             // leader epoch of the log with which the sink compared its position; -1 if unknown
	reports chan Report                       // at most one is unread
	arrived Signal                            // the awaited record arrived
	durable atomic.Pointer[idemtype.Commit]   // what the sink returned when the partition was given up
	older   atomic.Pointer[idemtype.Position] // of a record that the next call of Assigned must have
}

// lifetime is the beginning and the end of a delivery.
type lifetime struct {
	previous <-chan struct{}    // closed when the previous delivery no longer calls the sink
	assigned context.Context    // ends when the partition is given up
	end      context.CancelFunc // of assigned
	deliver  context.Context    // outlives assigned, so that a transaction that has begun is finished
	stop     context.CancelFunc // of deliver
	returned chan struct{}      // closed when Run has returned
	over     chan struct{}      // closed when the sink is no longer called
}

// NewDelivery returns a delivery. It waits until previous, the delivery of the same partition
// before it, has ended; nil means that there was none.
func NewDelivery(ctx context.Context, c *Config, p idemtype.Partition, previous <-chan struct{}) *Delivery {
	d := &Delivery{
		Partition: p, Queue: NewQueue(c.Limits, c.Demand),
		config: c, reports: make(chan Report, 1), arrived: NewSignal(),
		life: lifetime{previous: previous, returned: make(chan struct{}), over: make(chan struct{})},
	}
	d.durable.Store(&idemtype.NoCommit)
	d.life.assigned, d.life.end = context.WithCancel(ctx)
	d.life.deliver, d.life.stop = context.WithCancel(context.WithoutCancel(ctx))
	return d
}

// Run takes the partition over and delivers its records, until it is given up.
func (d *Delivery) Run() {
	defer close(d.life.returned)
	if d.life.previous != nil {
		<-d.life.previous
	}
	for {
		at, err := d.takeOver()
		if err == nil {
			d.report(Report{State: Reading, at: at, version: d.Queue.Reset()})
			err = d.deliverAll()
		}
		d.Queue.Shut()
		switch {
		case d.life.assigned.Err() != nil:
			return
		case errors.Is(err, errRetake):
			d.report(Report{State: TakingOver})
		case !d.standBy(err):
			return
		}
	}
}

// deliverAll delivers batches to the sink until one is rejected. While there are none, it calls
// Idle from time to time.
func (d *Delivery) deliverAll() error {
	for {
		records, resume, err := d.Queue.Take(d.life.assigned, d.config.Idle)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			if err := d.config.Sink.Idle(d.life.deliver, d.Partition, d.Queue.End()); err != nil {
				return err
			}
			continue
		}
		if resume {
			d.config.Reported.Send()
		}
		if err := d.config.Sink.Deliver(d.life.deliver, d.Partition, records); err != nil {
			return err
		}
		d.Queue.Release(records)
	}
}

func (d *Delivery) report(r Report) {
	r.Topic, r.leader = d.topic, d.leader
	select {
	case d.reports <- r:
		d.config.Reported.Send()
	case <-d.life.assigned.Done():
	}
}

// backOff waits before attempt n+1. It reports false if the partition was given up.
func (d *Delivery) backOff(n int) bool {
	return backoff.Sleep(d.life.assigned, backoff.Pause(n, d.config.Backoff, d.config.MaxBackoff))
}

// Report returns a report that has not been read yet.
func (d *Delivery) Report() (r Report, ok bool) {
	select {
	case r = <-d.reports:
		return r, true
	default:
		return r, false
	}
}

// RecordArrived records that the record arrived for which the take-over waits.
func (d *Delivery) RecordArrived() { d.arrived.Send() }

// TakeOverAgain drops the records in the queue, and calls Assigned of the sink again.
func (d *Delivery) TakeOverAgain() {
	d.Queue.Retake()
	d.arrived.Send()
}

// FoundOlder takes the partition over again because of a record whose leader epoch is lower than
// that of the position. The next call of Assigned has its position.
func (d *Delivery) FoundOlder(at idemtype.Position) {
	d.older.Store(&at)
	d.TakeOverAgain()
}

// Durable returns what may be committed for the partition that was given up.
func (d *Delivery) Durable() idemtype.Commit { return *d.durable.Load() }

// End stops accepting records. GiveUp must follow.
func (d *Delivery) End() {
	d.life.end()
	d.Queue.Shut()
}

// GiveUp ends the sink's work on the partition, and returns when it has ended. It ends Assigned
// and Standby, which must not overlap with Revoked, by their context, and a waiting Deliver by
// Revoked itself. Run must have been called.
func (d *Delivery) GiveUp(lost bool) {
	if d.life.previous != nil { // its Assigned must not overlap with Revoked, either
		<-d.life.previous
	}
	d.asking.Lock()
	if lost {
		d.config.Sink.Lost(d.Partition)
	} else {
		c := d.config.Sink.Revoked(d.Partition)
		d.durable.Store(&c)
	}
	d.asking.Unlock() // Run may wait for it before it notices the end
	d.life.stop()
	<-d.life.returned
	close(d.life.over)
}

// Over returns a channel that is closed when the sink is no longer called.
func (d *Delivery) Over() <-chan struct{} { return d.life.over }
