package pool_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// hooked is a pool of the service with hooks.
func hooked(t testing.TB, db *pgxpool.Pool, edit func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	cfg := db.Config()
	edit(cfg)
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// What the service's pool learns just before it connects, such as a password of the hour,
// holds for all connections: also for those that overtake and keep up tables.
func TestBeforeConnectHoldsForAllConnections(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	pool := hooked(t, db, func(cfg *pgxpool.Config) {
		name := cfg.ConnConfig.Database
		cfg.ConnConfig.Database = "known_only_before_connect"
		cfg.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error { c.Database = name; return nil }
	})
	c := rig.Service{Edit: rig.BriefLocks}.Consumer(t, pool)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "k: put 1 1"))
	if err := c.Upkeep(t.Context()); err != nil {
		t.Error(err)
	}
	rig.Stalled(t, db, "idemgen", "ClientRead", `SELECT 1`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.Own(ctx, rig.Topic, 0, 0); err != nil {
		t.Error(err)
	}
}

// Hooks that clean the service's connections must not take the runtime's statements.
func TestCleaningHooksOfTheServiceAreItsOwn(t *testing.T) {
	t.Parallel()
	discard := func(ctx context.Context, c *pgx.Conn) bool { _, err := c.Exec(ctx, `DISCARD ALL`); return err == nil }
	for name, edit := range map[string]func(*pgxpool.Config){
		"after release": func(cfg *pgxpool.Config) {
			cfg.AfterRelease = func(c *pgx.Conn) bool { return discard(context.Background(), c) }
		},
		//lint:ignore SA1019 services may still set it
		"before acquire": func(cfg *pgxpool.Config) { cfg.BeforeAcquire = discard },
		"prepare": func(cfg *pgxpool.Config) {
			cfg.PrepareConn = func(ctx context.Context, c *pgx.Conn) (bool, error) { return discard(ctx, c), nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{}.Consumer(t, hooked(t, db, edit)))
			for i := range int64(5) {
				rig.Apply(t, w, rig.Records(i, "put 1 1"))
				time.Sleep(10 * time.Millisecond) // a hook that runs after the release runs in the background
			}
			rig.Want(t, "rows", rig.Table(t, db), "1=1")
		})
	}
}

// Kafka allows 249 characters in a topic's name, Postgres 63 bytes in a statement's.
func TestLongTopicName(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	name := strings.Repeat("a", 249)
	c := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].Name = name }}.Consumer(t, db)
	if _, err := c.Own(t.Context(), name, 0, 0); err != nil {
		t.Error(err)
	}
}
