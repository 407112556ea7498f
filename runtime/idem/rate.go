package idem

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/wire"
)

// rate is how fast the records of a topic may be applied.
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

// pace waits until a batch may begin, or until ctx is done.
func (s *sink) pace(ctx context.Context, topic string, n int) error {
	r := s.settings.rates[topic]
	if r == nil {
		return nil
	}
	if wait := r.reserve(time.Now(), n); wait > 0 && !backoff.Sleep(ctx, wait) {
		return context.Cause(ctx)
	}
	return nil
}

// checkRates returns an error for rates that cannot be kept.
func checkRates(service *wire.Service, rates map[string]*rate) error {
	for topic, r := range rates {
		if service.Topic(topic) == nil {
			return fmt.Errorf("idem: WithRate: %s reads no topic %q", service.Consumer, topic)
		}
		if r.perSecond <= 0 {
			return fmt.Errorf("idem: WithRate: %d records a second of %s: want at least 1", r.perSecond, topic)
		}
	}
	return nil
}
