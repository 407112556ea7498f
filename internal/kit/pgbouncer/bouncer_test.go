//go:build unix

package pgbouncer_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/pgbouncer"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// It is a PgBouncer, and it is in the mode that was asked for, also after another was: a
// temporary table shows whether a client keeps its connection to the server.
func TestModeOfPgBouncer(t *testing.T) {
	b := pgbouncer.Start(t, idemtest.DB(t), map[string]string{"pool_mode": "session"})
	connect := func() *pgx.Conn {
		pool := b.Pool(nil)
		conn, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Release)
		return conn.Conn()
	}
	backend := func(c *pgx.Conn) (pid uint32) {
		t.Helper()
		if err := c.QueryRow(t.Context(), `SELECT pg_backend_pid()`, pgx.QueryExecModeExec).Scan(&pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	one, other := connect(), connect()
	before := backend(one)
	if before == backend(other) {
		t.Fatal("session mode: two clients have one connection")
	}
	if before == one.PgConn().PID() {
		t.Error("the server itself answers, and no pooler")
	}
	b.Reload(map[string]string{"pool_mode": "transaction"})
	backend(one) // gives its connection back after this query
	backend(other)
	if backend(one) != backend(other) {
		t.Error("transaction mode: two clients that take turns have two connections")
	}
}
