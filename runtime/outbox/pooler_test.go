//go:build unix

package outbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/pgbouncer"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// execMode is how clients behind a pooler in transaction mode are set up: they prepare nothing.
func execMode(cfg *pgxpool.Config) {
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
}

// Behind a pooler in transaction or statement mode a lead would belong to no relay: Run returns an
// error at the start, no lead is taken, and nothing is sent.
func TestPoolerInTransactionModeIsRefused(t *testing.T) {
	t.Parallel()
	for name, conf := range map[string]map[string]string{
		"transaction mode":              {"pool_mode": "transaction"},
		"transaction mode, in a circle": {"pool_mode": "transaction", "server_round_robin": "1"},
		"transaction mode, one server":  {"pool_mode": "transaction", "default_pool_size": "1"},
		"statement mode":                {"pool_mode": "statement"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, broker := table(t, outbox.ByRelay), &log{}
			write(t, db, "7", "1")
			for _, mode := range []func(*pgxpool.Config){nil, execMode} {
				r := &outbox.Relay{DB: pgbouncer.Start(t, db, conf).Pool(mode), Producer: broker}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := r.Run(ctx)
				if err == nil || ctx.Err() != nil {
					t.Fatalf("got %v within %v, want an error", err, ctx.Err())
				}
				for _, says := range []string{"connection pooler in transaction or statement mode", "pool_mode = session"} {
					if !strings.Contains(err.Error(), says) {
						t.Errorf("the error lacks %q: %v", says, err)
					}
				}
			}
			want(t, "leaders", query(t, db, leadersSQL), "0")
			want(t, "sent", broker.of(""), "")
		})
	}
}

// Behind a pooler in session mode a relay works. If the pooler goes over to transaction mode while
// a relay leads, Health says so.
func TestPoolerGoesOverToTransactionMode(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	pooler := pgbouncer.Start(t, db, map[string]string{"pool_mode": "session"})
	r, _ := relay(t, pooler.Pool(execMode), broker, func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, 0) })
	write(t, db, "7", "1")
	until(t, "all is sent", func() bool { return left(t, db) == "0" && r.Health() == nil })
	pooler.Reload(map[string]string{"pool_mode": "transaction"})
	others := pooler.Pool(func(cfg *pgxpool.Config) { execMode(cfg); cfg.MaxConns = 20 })
	until(t, "Health says it", func() bool {
		if tx, err := others.Begin(t.Context()); err == nil && others.Stat().AcquiredConns() < 15 { // it takes a session that is free
			t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		} else if err == nil {
			_ = tx.Rollback(t.Context())
		}
		time.Sleep(200 * time.Millisecond)
		return strings.Contains(fmt.Sprint(r.Health()), "transaction or statement mode")
	})
}
