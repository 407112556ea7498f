package maintain_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
	"github.com/idemgen/idemgen/templates"
)

// database has the runtime's tables.
func database(t testing.TB) *pgxpool.Pool {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.SQL); err != nil {
		t.Fatal(err)
	}
	return idemtest.Migrated(t, filepath.Join(dir, "sql"))
}

// job is the upkeep of a consumer with a window of an hour, and its log.
func job(db *pgxpool.Pool, consumer string) (*maintain.Job, *transcript.Buffer) {
	log := &transcript.Buffer{}
	return &maintain.Job{
		Consumer: consumer, Schema: map[string]int{"core": 1, "keys": 1, "effects": 1}, Keep: time.Hour, Shares: func(string) bool { return true }, Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil)), Expired: &atomic.Int64{},
		Connect: func(ctx context.Context) (*pgx.Conn, error) {
			cfg := db.Config().ConnConfig
			cfg.RuntimeParams["application_name"] = "idemgen upkeep"
			return pgx.ConnectConfig(ctx, cfg)
		},
	}, log
}

func upkeep(t testing.TB, db *pgxpool.Pool, j *maintain.Job) {
	t.Helper()
	// An earlier run's connection may still be on its way out, and hold the lock.
	until(t, "an earlier run does not end", func() bool {
		return text(t, db, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'idemgen upkeep' AND datname = current_database()`) == "0"
	})
	if err := j.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// first opens the first generation of a consumer.
func first(t testing.TB, db *pgxpool.Pool, consumer string) {
	t.Helper()
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if err := generation.First(t.Context(), conn.Conn(), consumer, time.Hour); err != nil {
		t.Fatal(err)
	}
}

// key claims a new key of the consumer.
func key(t testing.TB, db *pgxpool.Pool, consumer string) {
	t.Helper()
	idemtest.Exec(t, db, `INSERT INTO idem_keys (gen, key, def, fp, stream, seq)
SELECT gen, gen_random_uuid(), 1, 1, 1, 1 FROM idem_key_gen WHERE consumer = $1 AND sealed_at IS NULL`, consumer)
}

// pass lets a time pass for all generations of a consumer.
func pass(t testing.TB, db *pgxpool.Pool, consumer string, d time.Duration) {
	t.Helper()
	idemtest.Exec(t, db, `UPDATE idem_key_gen SET opened_at = opened_at - $2::interval, sealed_at = sealed_at - $2::interval WHERE consumer = $1`, consumer, d)
}

// generations are the consumer's, as "number open" or "number sealed".
func generations(t testing.TB, db *pgxpool.Pool, consumer string) string {
	t.Helper()
	return text(t, db, `SELECT coalesce(string_agg(gen || CASE WHEN sealed_at IS NULL THEN ' open' ELSE ' sealed' END, ', ' ORDER BY sealed_at NULLS LAST), '')
FROM idem_key_gen WHERE consumer = $1`, consumer)
}

// tables are the numbers of the tables of keys, attached or not.
func tables(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return text(t, db, `SELECT coalesce(string_agg(substring(relname FROM 11), ' ' ORDER BY substring(relname FROM 11)::int), '')
FROM pg_class WHERE relname ~ '^idem_keys_[0-9]+$'`)
}

func text(t testing.TB, db *pgxpool.Pool, sql string, args ...any) string {
	t.Helper()
	var v any
	if err := db.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v)
}

func want(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited a minute: %s", what)
		}
	}
}
