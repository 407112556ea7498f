package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// redisFaults happen to the Redis in which a service's effects have their leases.
var redisFaults = []fault{
	{name: "Redis crashes, and kept all on disk", users: pings, do: onRedis(onDisk, 0, redisCrashes)},
	{name: "Redis loses all its data", users: pings, do: onRedis(nil, lossesOfRedis, redisFlushed)},
	{name: "a Redis Cluster fails over", users: pings, do: onRedisCluster},
}

const lossesOfRedis = 3

// onDisk is the configuration of a Redis that keeps all that it has said it did.
var onDisk = map[string]string{"appendonly": "yes", "appendfsync": "always"}

// onRedis is a fault of one server. losses says how often it forgets what it knew.
func onRedis(conf map[string]string, losses int, do func(context.Context, *redistest.Server) error) func(context.Context, *theatre) (string, error) {
	return func(ctx context.Context, t *theatre) (string, error) {
		s, err := redistest.Run(ctx, conf)
		if err != nil {
			return "", err
		}
		t.servers.onClose = append(t.servers.onClose, func() error { s.Close(); return nil })
		return t.pingsOn(ctx, s.Addr(), losses, func() error { return do(ctx, s) })
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
func onRedisCluster(ctx context.Context, t *theatre) (string, error) {
	c, err := redistest.RunCluster(ctx)
	if err != nil {
		return "", err
	}
	t.servers.onClose = append(t.servers.onClose, func() error { c.Close(); return nil })
	const failovers = 2
	return t.pingsOn(ctx, strings.Join(c.Addrs(), ","), failovers, func() error {
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

// pingsOn runs processes on a Redis while do runs. Each loss may repeat the running calls.
func (t *theatre) pingsOn(ctx context.Context, redis string, losses int, do func() error) (string, error) {
	const processes = 2
	t.env = append(t.env, script.Redis+"="+redis)
	t.users.forgets = losses * processes * callsAtOnce
	if err := t.startWorking(ctx, processes); err != nil {
		return "", err
	}
	if err := t.load(ctx, usersRate, do); err != nil {
		return "", err
	}
	if err := t.caughtUp(ctx); err != nil {
		return "", err
	}
	return t.users.callsBy(ctx, t)
}
