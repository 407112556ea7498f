package idemtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// cleanupTimeout limits what a test's end may take.
const cleanupTimeout = 30 * time.Second

// templateTimeout limits what making a template may take.
const templateTimeout = 2 * time.Minute

// sharedServer is the server of this test binary. A server per test would cost each of them the
// start; the process's end stops it.
var sharedServer = sync.OnceValues(func() (*Postgres, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // a build may have to be fetched
	defer cancel()
	return StartPostgres(ctx, PostgresOptions{})
})

// DB returns a pool on an empty database that is the test's own, and that goes with it.
// A test without PostgreSQL does not skip: it fails and names the commands that help.
func DB(t testing.TB) *pgxpool.Pool {
	t.Helper()
	server, err := sharedServer()
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	return ownDatabase(t, server, "")
}

// ownDatabase makes the database of a test, empty or as a copy.
func ownDatabase(t testing.TB, server *Postgres, template string) *pgxpool.Pool {
	t.Helper()
	own, err := newDatabase(t.Context(), server.admin, template)
	if err != nil {
		t.Fatalf("idemtest: make a database: %v", err)
	}
	t.Cleanup(func() {
		if server.server != nil {
			go drop(server.admin, own) // the server goes soon, too
		} else if err := drop(server.admin, own); err != nil {
			t.Errorf("idemtest: drop the test's database: %v", err)
		}
	})
	pool, err := pgxpool.New(t.Context(), own)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	t.Cleanup(func() { closePool(t, pool) })
	return pool
}

// drop drops a database. The server looks every 100 ms whether its last connections have ended,
// and a test need not wait for that.
func drop(admin *pgxpool.Pool, own string) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTimeout)
	defer cancel()
	return dropDatabase(ctx, admin, own)
}

// closePool fails the test instead of hanging it when a connection was not given back.
func closePool(t testing.TB, pool *pgxpool.Pool) {
	closed := make(chan struct{})
	go func() {
		pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(cleanupTimeout):
		t.Errorf("idemtest: %d connections were not given back to the test's pool", pool.Stat().AcquiredConns())
	}
}

// Exec runs SQL, of several statements if there are no arguments, and fails the test if it cannot.
func Exec(t testing.TB, db *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("idemtest: %v\nin: %s", err, sql)
	}
}
