package idem

import (
	"context"
	"errors"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// leasesOf is the store of leases outside of Postgres; nil for a service whose leases are there.
func leasesOf(service *wire.Service, s *settings) (lease.Store, error) {
	switch {
	case service.EffectTimeout() > 0 && s.effects == nil:
		return nil, errors.New("idem: events of the spec have effects: call effects.New, as code does that idemgen generates")
	case s.leases == nil:
		return nil, nil
	case service.EffectTimeout() == 0:
		return nil, errors.New("idem: WithLeases: no event of the spec has an effect, so that nothing would be in this store")
	case *s.leases == nil:
		return nil, errors.New("idem: WithLeases: the store is nil: pass redislease.New(client)")
	}
	return *s.leases, nil
}

// checkLeases has the store of leases say what is wrong with its set-up. The returned function
// ends that.
func (c *Consumer) checkLeases(ctx context.Context) (stop func()) {
	store, ok := c.leases.(lease.Checker)
	if !ok {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	done := make(chan struct{})
	go func() {
		defer close(done)
		warnings, err := store.Check(ctx)
		for _, w := range warnings {
			c.settings.log.Warn("the store of leases: " + w)
		}
		if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
			c.settings.log.Error("the store of leases could not be checked", "error", err)
		}
	}()
	return func() { cancel(); <-done }
}

// endEffects lets the calls of effects end that have begun, each within its time, and records what
// came of them: a call that ends with the process would have to be found out about.
func (c *Consumer) endEffects() {
	if c.process.Calls == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.service.EffectTimeout()+effectsEnd)
	defer cancel()
	c.process.Calls.Wait(ctx)
}

// effectsEnd is how long it may take to record what came of the last calls.
const effectsEnd = 10 * time.Second
