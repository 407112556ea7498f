package redislease_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/redislease"
)

var _ lease.Checker = (*redislease.Store)(nil)

// What makes a Redis forget leases is told when a service starts.
func TestCheck(t *testing.T) {
	t.Parallel()
	primary := redistest.Start(t, durable)
	replicaOf := func(primary *redistest.Server) *redistest.Server {
		_, port, _ := strings.Cut(primary.Addr(), ":")
		replica := redistest.Start(t, map[string]string{"replicaof": "127.0.0.1 " + port})
		if n := client(t, primary).Wait(t.Context(), 1, 10*time.Second).Val(); n != 1 {
			t.Fatalf("%d replicas", n)
		}
		return replica
	}
	replica, inMemory := replicaOf(primary), redistest.Start(t, nil)
	replicaOf(inMemory)
	for what, c := range map[string]struct {
		of   *redistest.Server
		says string // "" is no warning
	}{
		"one that keeps what it knows": {primary, ""},
		"a replica":                    {replica, "it is a replica, which cannot write leases"},
		"in memory":                    {redistest.Start(t, nil), "appendonly is off, and it has no replica"},
		"in memory, twice":             {inMemory, "appendonly is off: a restart before a replica takes over loses all leases"},
		"it evicts":                    {redistest.Start(t, map[string]string{"appendonly": "yes", "maxmemory-policy": "allkeys-lru"}), "maxmemory-policy is allkeys-lru"},
	} {
		warnings, err := redislease.New(client(t, c.of)).Check(t.Context())
		switch text := strings.Join(warnings, "\n"); {
		case err != nil:
			t.Errorf("%s: %v", what, err)
		case c.says == "" && text != "" || !strings.Contains(text, c.says) || len(warnings) > 1:
			t.Errorf("%s: warnings %q, want %q", what, text, c.says)
		case c.says != "" && !strings.Contains(text, c.of.Addr()):
			t.Errorf("%s: %q does not name the server", what, text)
		}
	}
}

// Without the right to read it, the set-up is unknown; that is told, too.
func TestCheckWithoutRights(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, nil)
	if _, err := s.Do(t.Context(), "ACL", "SETUSER", "limited", "on", ">pw", "~*", "+@all", "-info"); err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), Username: "limited", Password: "pw"})
	defer c.Close()
	warnings, err := redislease.New(c).Check(t.Context())
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "may not run INFO") {
		t.Errorf("warnings %q (%v)", warnings, err)
	}
}

func TestCheckOfAServerThatIsAway(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, nil)
	if err := s.Crash(); err != nil {
		t.Fatal(err)
	}
	if _, err := redislease.New(client(t, s)).Check(t.Context()); err == nil {
		t.Error("no error")
	}
}

// Every master of a Cluster is looked at, and a Ring is warned of.
func TestCheckOfSeveralServers(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	defer c.Close()
	err := c.ForEachMaster(t.Context(), func(ctx context.Context, one *redis.Client) error {
		return one.ConfigSet(ctx, "appendonly", "yes").Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	store := redislease.New(c)
	if warnings, err := store.Check(t.Context()); err != nil || len(warnings) != 0 {
		t.Errorf("warnings %q (%v)", warnings, err)
	}
	one, err := cluster.MasterOf(t.Context(), "key")
	if err == nil {
		_, err = one.Do(t.Context(), "CONFIG", "SET", "maxmemory-policy", "volatile-ttl")
	}
	if err != nil {
		t.Fatal(err)
	}
	if warnings, err := store.Check(t.Context()); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], one.Addr()) {
		t.Errorf("warnings %q (%v)", warnings, err)
	}

	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": redistest.Start(t, durable).Addr()}})
	defer ring.Close()
	if warnings, err := redislease.New(ring).Check(t.Context()); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "Ring") {
		t.Errorf("warnings %q (%v)", warnings, err)
	}
}

// A Cluster spreads the leases of one consumer, and a batch of them is had all the same.
func TestLeasesAreSpread(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	defer c.Close()
	asks := make([]lease.Ask, 300)
	for i := range asks {
		asks[i] = ask
		asks[i].Key = eventKey(i)
	}
	store := redislease.New(c)
	answers, err := store.Acquire(t.Context(), "test", asks)
	for i, a := range answers {
		if err == nil && !a.Got {
			err = fmt.Errorf("lease %d is not had", i)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	err = c.ForEachMaster(t.Context(), func(ctx context.Context, one *redis.Client) error {
		if n := one.DBSize(ctx).Val(); n < 30 {
			t.Errorf("%s has %d of %d leases", one.Options().Addr, n, len(asks))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
