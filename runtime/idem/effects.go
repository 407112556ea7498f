package idem

import (
	"context"
	"errors"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// leasesOf returns the lease store outside of Postgres; nil for a service whose leases are in
// Postgres.
func leasesOf(service *wire.Service, s *settings) (lease.Store, error) {
	switch {
	case service.EffectTimeout() > 0 && s.effects == nil:
		return nil, errors.New("idem: events of the spec have effects: pass effects.Option() to New, as generated code does")
	case s.leases == nil:
		return nil, nil
	case service.EffectTimeout() == 0:
		return nil, errors.New("idem: WithLeases: no event of the spec has an effect, so this store would stay empty")
	case *s.leases == nil:
		return nil, errors.New("idem: WithLeases: the store is nil: pass redislease.New(client)")
	}
	return *s.leases, nil
}

// checkLeases logs what the lease store reports about its configuration. The returned function
// stops the check.
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
			c.settings.log.Warn("lease store: " + w)
		}
		if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
			c.settings.log.Error("the lease store could not be checked", "error", err)
		}
	}()
	return func() { cancel(); <-done }
}

// endEffects waits for the running calls of effects, each until its timeout, and records their
// outcomes: the outcome of a call that is cut off by the end of the process is unknown.
func (c *Consumer) endEffects() {
	if c.process.Calls == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.service.EffectTimeout()+effectsEnd)
	defer cancel()
	c.process.Calls.Wait(ctx)
}

// effectsEnd is how long recording the outcomes of the last calls may take.
const effectsEnd = 10 * time.Second
