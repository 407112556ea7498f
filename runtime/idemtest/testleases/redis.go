// Package testleases provides the lease store for generated tests of services whose effects use
// Redis. It runs one Redis server for the test binary, which package redistest finds or downloads.
// It must not import any package of this module but idem, idemtest, lease, redislease and
// redistest. Only this package and redislease import go-redis, so tests of other services do not
// link it.
package testleases

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/redislease"
)

// server runs until the test binary ends.
var server = sync.OnceValues(func() (*redistest.Server, error) { return redistest.Run(context.Background(), nil) })

// InRedis returns the store for the database of a test, in a Redis server that all tests of the
// binary share. The store is empty at first. If there is no Redis, the test fails with the
// commands that install it.
func InRedis(t testing.TB, db *pgxpool.Pool) lease.Store {
	t.Helper()
	s, err := server()
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	client := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { client.Close() })
	return idemtest.Leases(&apart{redislease.New(client), client, db.Config().ConnConfig.Database + "."})
}

// apart keeps the leases of one store apart from those of others in the same server.
type apart struct {
	lease.Store
	client *redis.Client
	prefix string // of the consumer
}

// Fields implements [idemtest.LeaseStore].
func (s *apart) Fields(ctx context.Context, consumer string, key idem.Key) (map[string]string, error) {
	return s.client.HGetAll(ctx, s.name(consumer, key)).Result()
}

// SetFields implements [idemtest.LeaseStore].
func (s *apart) SetFields(ctx context.Context, consumer string, key idem.Key, to map[string]string) error {
	return s.client.HSet(ctx, s.name(consumer, key), to).Err()
}

// name is that of a lease, as docs/effects.md tells people.
func (s *apart) name(consumer string, key idem.Key) string {
	return fmt.Sprintf("idem:%s%s:%s", s.prefix, consumer, key)
}

// Acquire implements [lease.Store].
func (s *apart) Acquire(ctx context.Context, consumer string, asks []lease.Ask) ([]lease.Answer, error) {
	return s.Store.Acquire(ctx, s.prefix+consumer, asks)
}

// Extend implements [lease.Store].
func (s *apart) Extend(ctx context.Context, consumer string, held []lease.Hold) ([]bool, error) {
	return s.Store.Extend(ctx, s.prefix+consumer, held)
}

// Record implements [lease.Store].
func (s *apart) Record(ctx context.Context, consumer string, ends []lease.End) ([]bool, error) {
	return s.Store.Record(ctx, s.prefix+consumer, ends)
}
