package redislease_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/internal/kit/leasetest"
	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/redislease"
)

// client is a client of a server of the test's own.
func client(t testing.TB, s *redistest.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { c.Close() })
	return c
}

func TestStoreInRedis(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, nil)
	leasetest.Run(t, false, func(t testing.TB) lease.Store {
		c := client(t, s)
		if err := c.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		return redislease.New(c)
	})
}

// BenchmarkLease is without the question to Postgres that numbers the leases.
func BenchmarkLease(b *testing.B) {
	for _, fsync := range []string{"no", "everysec", "always"} {
		b.Run("appendfsync="+fsync, func(b *testing.B) {
			s := redistest.Start(b, map[string]string{"appendonly": "yes", "appendfsync": fsync})
			leasetest.Bench(b, false, redislease.New(client(b, s)))
		})
	}
}
