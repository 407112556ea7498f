package idemtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// cleanupTimeout limits the duration of a test's cleanup.
const cleanupTimeout = 30 * time.Second

// templateTimeout limits the time to create a template.
const templateTimeout = 2 * time.Minute

// sharedServer is the server that all tests of the binary share, to save the time of a start per
// test. It stops when the process ends.
var sharedServer = sync.OnceValues(func() (*Postgres, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // a build may have to be fetched
	defer cancel()
	return StartPostgres(ctx, PostgresOptions{})
})

// DB returns a pool on an empty database of the test, which is dropped when the test ends. Without
// PostgreSQL the test is not skipped: it fails with the commands that install it.
func DB(t testing.TB) *pgxpool.Pool {
	t.Helper()
	server, err := sharedServer()
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	return ownDatabase(t, server, "")
}

// ownDatabase creates the database of a test, empty or as a copy of template.
func ownDatabase(t testing.TB, server *Postgres, template string) *pgxpool.Pool {
	t.Helper()
	own, err := newDatabase(t.Context(), server.admin, template)
	if err != nil {
		t.Fatalf("idemtest: create a database: %v", err)
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

// drop drops a database, without waiting for its last connections, for which the server would
// check only every 100 ms.
func drop(admin *pgxpool.Pool, own string) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTimeout)
	defer cancel()
	return dropDatabase(ctx, admin, own)
}

// closePool closes a pool. If a connection was not released, it fails the test, which would
// otherwise hang.
func closePool(t testing.TB, pool *pgxpool.Pool) {
	closed := make(chan struct{})
	go func() {
		pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(cleanupTimeout):
		t.Errorf("idemtest: %d connections of the test's pool were not released", pool.Stat().AcquiredConns())
	}
}

// Exec runs SQL, of several statements if there are no arguments, and fails the test if it cannot.
func Exec(t testing.TB, db *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("idemtest: %v\nin: %s", err, sql)
	}
}
