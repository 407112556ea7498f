package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// redisFaults happen to the Redis in which a service's effects have their leases. They have
// services of their own.
var redisFaults = []fault{
	{name: "Redis crashes, and kept all on disk", alone: onRedis(map[string]string{"appendonly": "yes", "appendfsync": "always"}, 0, redisCrashes)},
	{name: "Redis loses all its data", alone: onRedis(nil, lossesOfRedis, redisFlushed)},
	{name: "a Redis Cluster fails over", alone: onRedisCluster},
}

const lossesOfRedis = 3

// onRedis is a fault of one server. losses says how often it forgets what it knew.
func onRedis(conf map[string]string, losses int, do func(context.Context, *redistest.Server) error) func(context.Context, *kit) (*outcome, error) {
	return func(ctx context.Context, k *kit) (*outcome, error) {
		s, err := redistest.Run(ctx, conf)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		return k.pings(ctx, s.Addr(), losses, func() error { return do(ctx, s) })
	}
}

func redisCrashes(ctx context.Context, s *redistest.Server) error {
	for range 3 {
		if err := s.Crash(); err != nil {
			return err
		}
		if err := stage.Pause(ctx, 500*time.Millisecond); err != nil {
			return err
		}
		if err := s.Restart(ctx); err != nil {
			return err
		}
		if err := stage.Pause(ctx, 2*time.Second); err != nil {
			return err
		}
	}
	return nil
}

func redisFlushed(ctx context.Context, s *redistest.Server) error {
	for range lossesOfRedis {
		if _, err := s.Do(ctx, "FLUSHALL"); err != nil {
			return err
		}
		if err := stage.Pause(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

// onRedisCluster kills two masters, one after the other.
func onRedisCluster(ctx context.Context, k *kit) (*outcome, error) {
	c, err := redistest.RunCluster(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	const failovers = 2
	return k.pings(ctx, strings.Join(c.Addrs(), ","), failovers, func() error {
		for i := range failovers {
			key := fmt.Sprint("idem:welcomes:", i)
			before, err := c.MasterOf(ctx, key)
			if err == nil {
				err = before.Crash()
			}
			if err == nil {
				_, err = c.MasterOf(ctx, key)
			}
			if err == nil {
				err = before.Restart(ctx)
			}
			if err == nil {
				err = c.Whole(ctx)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// pings runs a service while do runs, and holds that each event has one effect on its row, and how
// often it was called.
func (k *kit) pings(ctx context.Context, redis string, losses int, do func() error) (o *outcome, err error) {
	p, err := k.openPings(ctx, redis)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.load(ctx, do); err != nil {
		return nil, err
	}
	if err := p.caughtUp(ctx); err != nil {
		return nil, err
	}
	if err := p.stopAll(); err != nil {
		return nil, err
	}
	o = &outcome{records: p.records, stall: p.longest}
	calls := 0
	if o.findings, calls, err = p.audit(ctx); err != nil {
		return nil, err
	}
	o.did = fmt.Sprintf("%d events, %d calls", len(p.events), calls)
	if most := len(p.events) + losses*pingers*pingsAtOnce; calls > most {
		o.findings = append(o.findings, audit.Finding{Kind: audit.Doubled, What: fmt.Sprintf("%d calls, more than %d", calls, most)})
	}
	return o, nil
}
