package redislease_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/redislease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A lease is forgotten after its time to be kept, and never while it says something.
func TestHowLongALeaseIsKept(t *testing.T) {
	t.Parallel()
	c := client(t, redistest.Start(t, nil))
	store := redislease.New(c)
	kept := func(what string, want time.Duration) {
		t.Helper()
		if ttl := c.PTTL(t.Context(), name).Val(); ttl > want || ttl < want-time.Minute {
			t.Errorf("%s: kept for %v, want %v", what, ttl, want)
		}
	}
	shorten := func() { c.PExpire(t.Context(), name, 10*time.Minute) }
	for _, of := range []struct{ term, keep, want time.Duration }{
		{time.Hour, 20 * time.Hour, 20 * time.Hour}, {20 * time.Hour, time.Hour, 20 * time.Hour}, {time.Minute, 0, time.Minute},
	} {
		c.FlushAll(t.Context())
		a := ask
		a.Term, a.Keep = of.term, of.keep
		if _, err := store.Acquire(t.Context(), set, []lease.Ask{a}); err != nil {
			t.Fatal(err)
		}
		kept("acquired", of.want)
		shorten()
		if held, err := store.Extend(t.Context(), set, []lease.Hold{held}); err != nil || !held[0] {
			t.Fatal(held, err)
		}
		kept("extended", of.want)
		shorten()
		for i, e := range []lease.End{{Hold: held, State: lease.Failed, Pause: 50 * time.Hour}, {Hold: held, State: lease.Done}, {Hold: held, State: lease.Interrupted}} {
			if i > 0 {
				c.HSet(t.Context(), name, "state", "p")
			}
			if held, err := store.Record(t.Context(), set, []lease.End{e}); err != nil || !held[0] {
				t.Fatal(held, err)
			}
			least := e.Pause
			if e.State == lease.Interrupted {
				least = 365 * 24 * time.Hour
			}
			kept("recorded "+string(rune(e.State)), max(of.want, least))
			shorten()
		}
	}
}

// A call that becomes an interrupted one if its process dies is kept for a year, and its end as
// long as others.
func TestHowLongACallThatMayBeInterruptedIsKept(t *testing.T) {
	t.Parallel()
	c := client(t, redistest.Start(t, nil))
	store := redislease.New(c)
	a := ask
	a.Term, a.Keep, a.Interrupts = time.Minute, time.Hour, true
	kept := func(what string, err error, want time.Duration) {
		t.Helper()
		if ttl := c.PTTL(t.Context(), name).Val(); err != nil || ttl > want || ttl < want-time.Minute {
			t.Errorf("%s: kept for %v, %v, want %v", what, ttl, err, want)
		}
		c.PExpire(t.Context(), name, 10*time.Minute)
	}
	_, err := store.Acquire(t.Context(), set, []lease.Ask{a})
	kept("acquired", err, 365*24*time.Hour)
	_, err = store.Extend(t.Context(), set, []lease.Hold{held})
	kept("extended", err, 365*24*time.Hour)
	_, err = store.Record(t.Context(), set, []lease.End{{Hold: held, State: lease.Done}})
	kept("done", err, time.Hour)
}

// sentCommands are the names of the commands that pipelines hold.
type sentCommands struct {
	mu    sync.Mutex
	names []string
}

func (s *sentCommands) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (s *sentCommands) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (s *sentCommands) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		s.mu.Lock()
		for _, c := range cmds {
			if c.Name() != "client" { // a new connection tells its name
				s.names = append(s.names, c.Name())
			}
		}
		s.mu.Unlock()
		return next(ctx, cmds)
	}
}

// told are the commands since it was asked last.
func (s *sentCommands) told() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.names = nil }()
	return fmt.Sprint(s.names)
}

// Scripts are called by their hash, all of a batch in one round trip. A server that does not know
// one gets it then, in one more.
func TestScriptsGoByTheirHash(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, nil)
	var sent sentCommands
	c := client(t, s)
	c.AddHook(&sent)
	store := redislease.New(c)
	asks := []lease.Ask{ask, ask}
	asks[1].Key = wire.Key{0xac}
	for _, want := range []string{"[evalsha evalsha eval eval]", "[evalsha evalsha]", "flush", "[evalsha evalsha eval eval]", "[evalsha evalsha]"} {
		if want == "flush" {
			if _, err := s.Do(t.Context(), "SCRIPT", "FLUSH"); err != nil {
				t.Fatal(err)
			}
			continue
		}
		answers, err := store.Acquire(t.Context(), "test", asks)
		if err != nil || !answers[0].Got || !answers[1].Got {
			t.Fatal(answers, err)
		}
		if got := sent.told(); got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	}
}

// How long a lease lasts is measured by the server. A process whose clock is decades behind takes
// none away, and its own are as good as others.
func TestServersClockDecides(t *testing.T) {
	s := redistest.Start(t, nil)
	here := redislease.New(client(t, s))
	get := func(store *redislease.Store, key byte, owner byte, token int64, term time.Duration) lease.Answer {
		t.Helper()
		answers, err := store.Acquire(context.Background(), "test", []lease.Ask{{
			Key: wire.Key{key}, Owner: wire.UUID{owner}, Token: token, Term: term, Keep: time.Hour,
		}})
		if err != nil {
			t.Fatal(err)
		}
		return answers[0]
	}
	behind := func(do func(*redislease.Store)) {
		synctest.Test(t, func(t *testing.T) {
			if time.Now().Year() > 2001 {
				t.Fatal("the clock was not moved")
			}
			c := redis.NewClient(&redis.Options{Addr: s.Addr(), Dialer: dialer})
			do(redislease.New(c))
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	get(here, 1, 1, 1, time.Hour)
	get(here, 2, 1, 2, time.Millisecond)
	time.Sleep(20 * time.Millisecond)
	behind(func(there *redislease.Store) {
		if a := get(there, 1, 2, 3, time.Hour); a.Got || a.Wait < 50*time.Minute || a.Wait > time.Hour {
			t.Errorf("a lease that is held: %+v", a)
		}
		if a := get(there, 2, 2, 4, time.Hour); !a.Got {
			t.Errorf("a lease that is over: %+v", a)
		}
		get(there, 3, 2, 5, time.Hour)
	})
	for key := byte(2); key <= 3; key++ {
		if a := get(here, key, 3, 10, time.Hour); a.Got || a.Wait < 50*time.Minute || a.Wait > time.Hour {
			t.Errorf("lease %d of a process that is behind: %+v", key, a)
		}
	}
}

// dialer connects without Go's own, whose goroutines look at the clock.
func dialer(_ context.Context, network, addr string) (net.Conn, error) {
	return net.Dial(network, addr)
}
