package idem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sink is the Consumer as a Source sees it.
type sink Consumer

const (
	assignTimeout  = 10 * time.Second
	revokePatience = 2 * time.Second
	waitInitial    = 100 * time.Millisecond
	waitMost       = 30 * time.Second
	halveAfter     = 3 // tries of a whole batch before half of it is tried
)

// Assigned implements [Sink].
func (s *sink) Assigned(ctx context.Context, a Assignment) (Position, error) {
	c := (*Consumer)(s)
	o, err := c.newOwner(a.Partition)
	if err != nil {
		return Position{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, assignTimeout)
	defer cancel()
	err = c.patience(a.Partition, o.assign(ctx, claim{Assignment: a, broker: true}))
	if err != nil {
		c.stands(a.Partition, err)
		return Position{}, err
	}
	c.mu.Lock()
	c.owners[a.Partition] = o
	c.mu.Unlock()
	c.stands(a.Partition, nil)
	c.log.Info("partition taken over", "topic", a.Partition.Topic, "partition", a.Partition.Number, "next", o.tail.next, "seq", o.tail.seq, "committed", a.Committed)
	return Position{Offset: o.tail.next, Epoch: o.tail.epoch}, nil
}

// patience lets a log that ends below the position be for a while, then halts.
func (c *Consumer) patience(p Partition, err error) error {
	ahead, ok := errors.AsType[*aheadError](err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ok {
		delete(c.ahead, p)
		return err
	}
	since, seen := c.ahead[p]
	if !seen {
		c.ahead[p] = time.Now()
		return err
	}
	if time.Since(since) < aheadPatience {
		return err
	}
	return &HaltedError{Partition: p, Offset: -1, Reason: ahead.text + ": the log was truncated or replaced"}
}

func (s *sink) owner(p Partition) *owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[p]
}

// Deliver implements [Sink].
func (s *sink) Deliver(ctx context.Context, p Partition, records []Message) error {
	c := (*Consumer)(s)
	o := s.owner(p)
	if o == nil {
		return &FencedError{Partition: p, Reason: "the partition is not assigned"}
	}
	select {
	case <-o.idle:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { o.idle <- struct{}{} }()
	return c.deliver(ctx, o, records)
}

// deliver tries until the records are durable, the partition is gone, or a person is needed.
func (c *Consumer) deliver(ctx context.Context, o *owner, records []Message) error {
	apply := o.apply // counts what was redelivered, once
	for try := 1; ; try++ {
		err := c.observed(ctx, o, records, apply)
		apply = o.applyUnseen
		if err == nil {
			c.stands(o.id, nil)
			return nil
		}
		if _, ok := errors.AsType[*HaltedError](err); ok {
			c.stands(o.id, err)
			return err
		}
		if fenced, ok := errors.AsType[*FencedError](err); ok {
			if c.drop(o) && fenced.Reason != givenUp {
				c.stands(o.id, err) // until it is taken over again
			}
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

// pause waits before the next try. It reports false if the partition or the process ends.
func (c *Consumer) pause(ctx context.Context, o *owner, err error, try int) bool {
	wait := backoff(try, waitInitial, waitMost)
	if w, ok := errors.AsType[*waitError](err); ok && w.after > 0 {
		wait = w.after
	}
	c.stats.waits.Add(1)
	c.stands(o.id, fmt.Errorf("the batch at offset %d will be tried again: %w", o.tail.next, err))
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.quit, cancel)()
	return sleep(both, wait)
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
func (s *sink) Revoked(p Partition) { (*Consumer)(s).giveUp(p, revokePatience) }

// Lost implements [Sink].
func (s *sink) Lost(p Partition) { (*Consumer)(s).giveUp(p, 0) }

// giveUp begins no further transaction, waits for the one in flight, then cancels it and
// leaves it to the next owner's fence. The memory goes with the owner.
func (c *Consumer) giveUp(p Partition, wait time.Duration) {
	c.mu.Lock()
	o := c.owners[p]
	delete(c.standing, p)
	delete(c.ahead, p)
	c.mu.Unlock()
	if o == nil {
		return
	}
	o.leave()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-o.idle:
	case <-t.C:
	}
	o.kill()
	c.drop(o)
	c.log.Info("partition given up", "topic", p.Topic, "partition", p.Number, "next", o.durable.Load())
}

// drop forgets an owner. It reports false if that was done before.
func (c *Consumer) drop(o *owner) bool {
	o.kill()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owners[o.id] != o {
		return false
	}
	delete(c.owners, o.id)
	delete(c.standing, o.id)
	return true
}
