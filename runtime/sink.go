package idem

import (
	"context"
	"errors"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// sink is the Consumer as a Source sees it.
type sink Consumer

const (
	assignTimeout  = 10 * time.Second
	revokePatience = 2 * time.Second
	waitInitial    = 100 * time.Millisecond
	waitMost       = 5 * time.Second
	halveAfter     = 3 // tries of a whole batch before half of it is tried
)

// Assigned implements [Sink].
func (s *sink) Assigned(ctx context.Context, a Assignment) (Position, error) {
	c := (*Consumer)(s)
	c.group.End(errNotJoined) // of a Source that says nothing of its group
	w, err := c.assigned(a.Partition)
	if err != nil {
		return Position{}, err
	}
	w.lag.Low(a.Low)
	w.lag.End(a.High, time.Now())
	o, err := w.take(ctx, claim{Assignment: a, broker: true})
	if err != nil {
		return Position{}, err
	}
	return Position{Offset: o.tail.Next, Epoch: o.tail.Epoch}, nil
}

// assigned returns the worker of a partition, a new one if it was not assigned before.
func (c *Consumer) assigned(p Partition) (*worker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.workers[p]
	if w == nil {
		var err error
		if w, err = c.newWorker(p); err != nil {
			return nil, err
		}
		c.workers[p] = w
	}
	return w, nil
}

// worker returns the worker of a partition that is assigned, or nil.
func (c *Consumer) worker(p Partition) *worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.workers[p]
}

// owner is the worker's memory, nil if there is none.
func (s *sink) owner(p Partition) *owner {
	w := (*Consumer)(s).worker(p)
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.owner
}

// Deliver implements [Sink].
func (s *sink) Deliver(ctx context.Context, p Partition, records []Message) error {
	o := s.owner(p)
	if o == nil {
		return &FencedError{Partition: p, Reason: notTaken}
	}
	return o.alone(ctx, func() error {
		o.w.waiting(true)
		defer o.w.waiting(false)
		return o.c.deliver(ctx, o, records)
	})
}

// Idle implements [Sink].
func (s *sink) Idle(ctx context.Context, p Partition, end int64) error {
	o, w := s.owner(p), (*Consumer)(s).worker(p)
	switch {
	case w == nil:
		return &FencedError{Partition: p, Reason: notTaken}
	case o == nil:
		return w.inspect(ctx)
	}
	return o.alone(ctx, func() error {
		if end > o.tail.Next {
			return o.pass(ctx, end)
		}
		return o.inspect(ctx)
	})
}

// notTaken is the reason of a [FencedError] without an owner.
const notTaken = "the partition is not assigned, or must be taken over first"

// alone runs f while nothing else uses the owner.
func (o *owner) alone(ctx context.Context, f func() error) error {
	select {
	case <-o.idle:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { o.idle <- struct{}{} }()
	return f()
}

// deliver tries until the records are durable, the partition is gone, or a person is needed.
func (c *Consumer) deliver(ctx context.Context, o *owner, records []Message) error {
	apply := o.apply // counts what was redelivered, once
	for try := 1; ; try++ {
		err := c.observed(ctx, o, records, apply)
		apply = o.applyUnseen
		if _, wait := errors.AsType[*waitError](err); !wait {
			return err
		}
		if !c.pause(ctx, o, err, try) {
			return errors.Join(ctx.Err(), o.quit.Err())
		}
		if rest := o.unseen(records); len(rest) < len(records) {
			records, try = rest, 0
		} else if try >= halveAfter {
			o.limit = max(1, o.next(len(records))/2)
		}
	}
}

// next is how many of n records the next transaction would hold.
func (o *owner) next(n int) int {
	if o.limit > 0 {
		return min(n, o.limit)
	}
	return n
}

func (c *Consumer) observed(ctx context.Context, o *owner, records []Message, apply func(context.Context, []Message) (Result, error)) error {
	if c.observer.BatchStart != nil {
		ctx = c.observer.BatchStart(ctx, o.id, len(records))
	}
	res, err := apply(ctx, records)
	if c.observer.BatchEnd != nil {
		c.observer.BatchEnd(ctx, o.id, res, err)
	}
	return err
}

// Durable implements [Sink].
func (s *sink) Durable(p Partition) int64 {
	if o := s.owner(p); o != nil {
		return o.durable.Load()
	}
	return -1
}

// Revoked implements [Sink].
func (s *sink) Revoked(p Partition) { (*Consumer)(s).giveUp(p, revokePatience, false) }

// Lost implements [Sink].
func (s *sink) Lost(p Partition) { (*Consumer)(s).giveUp(p, 0, true) }

// atRest waits until nothing uses the owner, and reports whether that was so in time.
func (o *owner) atRest(wait time.Duration) bool {
	select {
	case <-o.idle:
		return true
	default:
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-o.idle:
		return true
	case <-t.C:
		return false
	}
}

// giveUp begins no further transaction, waits for the one in flight, then cancels it and
// leaves it to the next owner's fence. The memory goes with the owner.
func (c *Consumer) giveUp(p Partition, wait time.Duration, lost bool) {
	c.mu.Lock()
	w := c.workers[p]
	delete(c.workers, p)
	c.mu.Unlock()
	if w == nil {
		return
	}
	w.mu.Lock()
	o := w.owner
	w.mu.Unlock()
	if o != nil {
		o.leave()
		if o.atRest(wait) && lost {
			o.handBack()
		}
	}
	_ = w.step(protocol.Revoked, nil) // leads from everywhere to Off
}
