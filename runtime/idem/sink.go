package idem

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/wire"
)

// sink is the Consumer as a Source sees it.
type sink Consumer

// revokePatience is how long the transaction in flight may take when a partition is revoked.
const revokePatience = 2 * time.Second

// take returns a partition, a new one if it was not assigned before.
func (c *Consumer) take(id Partition) (*engine.Partition, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.assigned[id]
	if p == nil {
		var err error
		if p, err = engine.NewPartition(c.process, id); err != nil {
			return nil, err
		}
		c.assigned[id] = p
	}
	return p, nil
}

// partition returns a partition that is assigned, or nil.
func (s *sink) partition(id Partition) *engine.Partition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.assigned[id]
}

// Assigned implements [Sink].
func (s *sink) Assigned(ctx context.Context, a Assignment) (Position, error) {
	s.group.End(errNotJoined) // of a Source that says nothing of its group
	p, err := (*Consumer)(s).take(a.Partition)
	if err != nil {
		return Position{}, err
	}
	return p.Assigned(ctx, a)
}

// Deliver implements [Sink].
func (s *sink) Deliver(ctx context.Context, id Partition, records []Message) error {
	if err := s.pace(ctx, id, len(records)); err != nil {
		return err
	}
	if p := s.partition(id); p != nil {
		return p.Deliver(ctx, records)
	}
	return engine.NotTaken(id)
}

// Idle implements [Sink].
func (s *sink) Idle(ctx context.Context, id Partition, end int64) error {
	if p := s.partition(id); p != nil {
		return p.Idle(ctx, end)
	}
	return engine.NotTaken(id)
}

// Standby implements [Sink].
func (s *sink) Standby(ctx context.Context, id Partition) (TakeOver, error) {
	if p := s.partition(id); p != nil {
		return p.Standby(ctx)
	}
	return TakeOver{}, engine.NotTaken(id)
}

// Durable implements [Sink].
func (s *sink) Durable(id Partition) Commit {
	if p := s.partition(id); p != nil {
		return p.Durable()
	}
	return idemtype.NoCommit
}

// Silent implements [Sink].
func (s *sink) Silent(id Partition, since time.Time, why string) {
	if p := s.partition(id); p != nil {
		p.Silent(since, why)
	}
}

// End implements [Sink].
func (s *sink) End(id Partition, end int64, after time.Time) {
	if p := s.partition(id); p != nil {
		p.Lag().End(end, after, time.Now())
	}
}

// Group implements [Sink].
func (s *sink) Group(why error) { s.group.Set(s.settings.log, why) }

// Revoked implements [Sink].
func (s *sink) Revoked(id Partition) Commit { return s.giveUp(id, revokePatience, false) }

// Lost implements [Sink].
func (s *sink) Lost(id Partition) { s.giveUp(id, 0, true) }

func (s *sink) giveUp(id Partition, wait time.Duration, lost bool) Commit {
	s.mu.Lock()
	p := s.assigned[id]
	delete(s.assigned, id)
	s.mu.Unlock()
	if p == nil {
		return idemtype.NoCommit
	}
	return p.GiveUp(wait, lost)
}

// rate is how fast the records of a topic may be taken.
type rate struct {
	perSecond int

	mu   sync.Mutex
	next time.Time // when the next batch may begin
}

// reserve returns how long a batch of n records must wait.
func (r *rate) reserve(now time.Time, n int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := max(0, r.next.Sub(now))
	r.next = now.Add(wait + time.Duration(n)*time.Second/time.Duration(r.perSecond))
	return wait
}

// pace waits until a batch may begin, ctx is done, or the partition is given up.
func (s *sink) pace(ctx context.Context, id Partition, n int) error {
	r := s.settings.rates[id.Topic]
	if r == nil {
		return nil
	}
	begin := time.Now().Add(r.reserve(time.Now(), n))
	for wait := time.Until(begin); wait > 0; wait = time.Until(begin) {
		if !backoff.Sleep(ctx, min(wait, time.Second)) {
			return context.Cause(ctx)
		}
		if s.partition(id) == nil {
			return engine.NotTaken(id)
		}
	}
	return nil
}

// checkRates returns an error for rates that cannot be kept.
func checkRates(service *wire.Service, rates map[string]*rate) error {
	for topic, r := range rates {
		if service.Topic(topic) == nil {
			return fmt.Errorf("idem: WithRate: %s does not read topic %q", service.Consumer, topic)
		}
		if r.perSecond <= 0 {
			return fmt.Errorf("idem: WithRate: %d records per second for %s: want at least 1", r.perSecond, topic)
		}
	}
	return nil
}
