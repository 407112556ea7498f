package redislease_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/redislease"
)

// impatient are a client's settings with which a server that is silent is noticed soon.
func impatient(addr string) *redis.Options {
	return &redis.Options{Addr: addr, DialTimeout: 500 * time.Millisecond, ReadTimeout: 300 * time.Millisecond, MaxRetryBackoff: 20 * time.Millisecond}
}

func playOn(t *testing.T, open func() redis.UniversalClient) *play {
	return &play{t: t, term: time.Minute, open: func() lease.Store {
		c := open()
		t.Cleanup(func() { c.Close() })
		return redislease.New(c)
	}}
}

var durable = map[string]string{"appendonly": "yes", "appendfsync": "always"}

// Whatever happens to a Redis that keeps what it knows, each event is called once.
func TestFaultsOfARedisThatForgetsNothing(t *testing.T) {
	say := func(words ...string) func(context.Context, *redistest.Server) error {
		return func(ctx context.Context, s *redistest.Server) error {
			_, err := s.Do(ctx, words...)
			return err
		}
	}
	for name, c := range map[string]struct {
		times int
		pause time.Duration // after each
		do    func(context.Context, *redistest.Server) error
	}{
		"killed and restarted": {2, 300 * time.Millisecond, func(ctx context.Context, s *redistest.Server) error {
			if err := s.Crash(); err != nil {
				return err
			}
			time.Sleep(300 * time.Millisecond)
			return s.Restart(ctx)
		}},
		"its scripts are flushed": {30, 10 * time.Millisecond, say("SCRIPT", "FLUSH")},
		"clients are paused":      {2, time.Second, say("CLIENT", "PAUSE", "700", "ALL")},
		"it sleeps":               {2, 100 * time.Millisecond, say("DEBUG", "SLEEP", "0.7")},
		"connections are cut":     {20, 20 * time.Millisecond, say("CLIENT", "KILL", "TYPE", "normal")},
		"it stands still": {1, 0, func(_ context.Context, s *redistest.Server) error {
			if err := s.Freeze(); err != nil {
				return err
			}
			time.Sleep(time.Second)
			return s.Thaw()
		}},
		"out of memory": {2, 300 * time.Millisecond, func(ctx context.Context, s *redistest.Server) error {
			if err := say("CONFIG", "SET", "maxmemory", "1")(ctx, s); err != nil {
				return err
			}
			time.Sleep(300 * time.Millisecond)
			return say("CONFIG", "SET", "maxmemory", "0")(ctx, s)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, durable)
			p := playOn(t, func() redis.UniversalClient { return redis.NewClient(impatient(s.Addr())) })
			p.run(func(ctx context.Context) error {
				for range c.times {
					if err := c.do(ctx, s); err != nil {
						return err
					}
					time.Sleep(c.pause)
				}
				return nil
			})
			p.once()
		})
	}
}

// A Redis that lost what it knew has calls made again: those that were in flight, and those whose
// events the ledger had not passed. No event is lost, and none has two rows.
func TestRedisThatLosesItsData(t *testing.T) {
	const times = 3
	for name, lose := range map[string]func(context.Context, *redistest.Server) error{
		"FLUSHALL": func(ctx context.Context, s *redistest.Server) error {
			_, err := s.Do(ctx, "FLUSHALL")
			return err
		},
		"killed, with its data in memory": func(ctx context.Context, s *redistest.Server) error {
			if err := s.Crash(); err != nil {
				return err
			}
			return s.Restart(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, nil)
			p := playOn(t, func() redis.UniversalClient { return redis.NewClient(impatient(s.Addr())) })
			p.run(func(ctx context.Context) error {
				for range times {
					if err := lose(ctx, s); err != nil {
						return err
					}
					time.Sleep(200 * time.Millisecond)
				}
				return nil
			})
			p.atMost(times)
		})
	}
}

// atMost holds calls that were made again to those in flight, each time that data were lost.
func (p *play) atMost(losses int) {
	p.t.Helper()
	if calls, events := p.total(); calls > events+losses*processes*workers || calls < events {
		p.t.Errorf("%d calls for %d events, and data lost %d times", calls, events, losses)
	}
}

// A Redis that evicts leases has calls made again.
func TestRedisThatEvicts(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, map[string]string{"maxmemory-policy": "allkeys-random"})
	p := playOn(t, func() redis.UniversalClient { return redis.NewClient(impatient(s.Addr())) })
	p.call = func(int, int, int) { time.Sleep(20 * time.Millisecond) }
	p.run(func(ctx context.Context) error {
		for range 5 {
			for _, most := range []string{"1", "0"} {
				if _, err := s.Do(ctx, "CONFIG", "SET", "maxmemory", most); err != nil {
					return err
				}
				time.Sleep(50 * time.Millisecond)
			}
		}
		return nil
	})
	if calls, events := p.total(); calls <= events {
		t.Errorf("%d calls for %d events: nothing was evicted", calls, events)
	}
}

// A Cluster that replaces a master, with what the replica has not heard of lost.
func TestClusterFailsOver(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
	c := redistest.StartCluster(t)
	p := playOn(t, func() redis.UniversalClient {
		o := impatient("")
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: c.Addrs(), DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, MaxRetryBackoff: o.MaxRetryBackoff,
		})
	})
	p.run(func(ctx context.Context) error {
		const key = "idem:test:0"
		before, err := c.MasterOf(ctx, key)
		if err != nil {
			return err
		}
		if err := before.Crash(); err != nil {
			return err
		}
		if _, err := c.MasterOf(ctx, key); err != nil {
			return err
		}
		if err := before.Restart(ctx); err != nil {
			return err
		}
		return c.Whole(ctx)
	})
	p.atMost(1)
}

func TestSentinelFailsOver(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
	s := redistest.StartSentinel(t)
	p := playOn(t, func() redis.UniversalClient {
		o := impatient("")
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: redistest.SentinelMaster, SentinelAddrs: []string{s.Addr()},
			DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, MaxRetryBackoff: o.MaxRetryBackoff,
		})
	})
	p.run(func(ctx context.Context) error {
		if err := s.Server.Crash(); err != nil {
			return err
		}
		for {
			_, err := s.Replica.Do(ctx, "SET", "written", "yes")
			if err == nil || ctx.Err() != nil {
				return ctx.Err()
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	p.atMost(1)
}

// A holder that is stopped for longer than its lease lasts finds another one in its place: what it
// records then is dropped. Its call was made a second time, or a person decides.
func TestHolderThatSlept(t *testing.T) {
	for name, interrupts := range map[string]bool{"retry": false, "dead_letter": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, nil)
			p := playOn(t, func() redis.UniversalClient { return redis.NewClient(impatient(s.Addr())) })
			p.term, p.interrupt = time.Second, interrupts
			var slept atomic.Bool
			asleep := -1
			p.call = func(_, event, _ int) {
				if slept.CompareAndSwap(false, true) {
					asleep = event
					time.Sleep(2 * time.Second)
				}
			}
			p.run(func(context.Context) error { time.Sleep(2500 * time.Millisecond); return nil })
			calls, recorded := 2, 1
			if interrupts {
				calls, recorded = 1, 0
			}
			if p.calls[asleep] != calls || p.recorded[asleep] != recorded {
				t.Errorf("who slept: %d calls, %d recorded; want %d and %d", p.calls[asleep], p.recorded[asleep], calls, recorded)
			}
		})
	}
}
