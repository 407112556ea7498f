package pool_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/door"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// connections are the runtime's own ones, of a service with this pool.
func connections(t *testing.T, db *pgxpool.Pool) *pool.Pool {
	t.Helper()
	process, _ := door.Parts(rig.Service{}.Consumer(t, db).Consumer)
	return process.Pool
}

// acquired is one of the connections.
func acquired(t *testing.T, p *pool.Pool) *pgxpool.Conn {
	t.Helper()
	conn, err := p.Acquire(t.Context(), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// A connection outside the pool has the settings for its work; those of the pool's hook hold too,
// and its errors are returned.
func TestConnectionsOutsideThePool(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var failing error
	p := connections(t, hooked(t, db, func(cfg *pgxpool.Config) {
		cfg.BeforeConnect = func(context.Context, *pgx.ConnConfig) error { return failing }
		cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, `SET work_mem = '7MB'`)
			return err
		}
	}))
	all := map[string]func(context.Context) (*pgx.Conn, error){
		"idemgen, 4s, 8s, on, 7MB":         p.Connect,
		"idemgen upkeep, 4s, 0, on, 7MB":   p.Background,
		"idemgen report, 1s, 2s, off, 7MB": p.Report,
	}
	for want, connect := range all {
		conn, err := connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range []string{
			"application_name", "lock_timeout", "statement_timeout", "synchronous_commit", "work_mem",
		} {
			var v string
			rig.Do(t, func() error { return conn.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&v) })
			got = append(got, v)
		}
		rig.Want(t, "settings", strings.Join(got, ", "), want)
		rig.Do(t, func() error { return conn.Close(t.Context()) })
	}
	failing = errors.New("no password")
	for name, connect := range all {
		if _, err := connect(t.Context()); !errors.Is(err, failing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The pool keeps a connection until it is reset or closed, or a handler still has it. What may not
// have been confirmed is confirmed before the next use.
func TestConnectionThatIsReleased(t *testing.T) {
	t.Parallel()
	p := connections(t, crowded(t, rig.Database(t), nil))
	pid := func() uint32 {
		t.Helper()
		conn := acquired(t, p)
		defer pool.Release(conn)
		return conn.Conn().PgConn().PID()
	}
	p.Reset() // before there is one
	first := pid()
	p.Doubt()
	rig.Want(t, "the same connection", pid(), first)
	rig.Do(t, func() error { return p.Ping(t.Context()) })
	rig.Want(t, "after a ping", pid(), first)
	p.Reset()
	second := pid()
	p.Close()
	_, ended := p.Acquire(t.Context(), func(error) {})
	rig.WantText(t, ended, "the run has ended")
	p.Begin()
	third := pid()
	if first == second || second == third {
		t.Errorf("connections %d, %d, %d", first, second, third)
	}
	held := acquired(t, p)
	kept := held.Conn()
	full, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := p.Acquire(full, func(error) {})
	rig.WantError[*outage.Unreachable](t, err)
	rig.WantText(t, err, "all 1 of this process are in use", "raise pool_max_conns")
	pool.StateOf(kept.PgConn()).Kept = true
	pool.Release(held)
	if got := pid(); got == kept.PgConn().PID() {
		t.Error("a connection that a handler has is used")
	}
	rig.Do(t, func() error { return kept.Close(t.Context()) })
}

// The last error of a statement is known, with the end of its context, but not the one that says
// only that the transaction is aborted. A transaction is ended, and its session restored, unless
// a handler has the connection.
func TestTransactionThatIsAbandoned(t *testing.T) {
	t.Parallel()
	p := connections(t, crowded(t, rig.Database(t), nil))
	held := acquired(t, p)
	defer pool.Release(held)
	conn := held.Conn()
	state := pool.StateOf(conn.PgConn())
	exec := func(ctx context.Context, sql, code string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql); (err == nil) != (code == "") {
			t.Fatalf("%s: %v", sql, err)
		}
		if code != "" {
			rig.Want(t, sql, state.Failed.Code, code)
		}
	}
	exec(t.Context(), `BEGIN`, "")
	exec(t.Context(), `SET work_mem = '7MB'`, "")
	exec(t.Context(), `SAVEPOINT s`, "")
	exec(t.Context(), `SELECT 1 / 0`, "22012")
	exec(t.Context(), `SELECT 1`, "22012")
	if state.By != nil || state.Ended {
		t.Errorf("state: %+v", state)
	}
	exec(t.Context(), `ROLLBACK TO s`, "")
	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	exec(brief, `SELECT pg_sleep(60)`, "57014")
	rig.Want(t, "why it ended", state.By, context.DeadlineExceeded)
	exec(t.Context(), `ROLLBACK TO s`, "")
	exec(t.Context(), `SELECT nonsense`, "42703")
	rig.Want(t, "why the next one ended", state.By, nil)

	state.Kept = true
	pool.Abandon(t.Context(), conn)
	rig.Want(t, "transaction of a handler", conn.PgConn().TxStatus(), 'E')
	state.Kept = false
	pool.Abandon(brief, conn)
	rig.Want(t, "transaction", conn.PgConn().TxStatus(), 'I')
	exec(t.Context(), `SET work_mem = '7MB'`, "")
	exec(t.Context(), `CREATE TEMP TABLE left_behind ()`, "")
	exec(t.Context(), `BEGIN`, "")
	pool.Abandon(t.Context(), conn)
	var left string
	rig.Do(t, func() error {
		const sql = `SELECT concat(current_setting('work_mem'), to_regclass('left_behind'))`
		return conn.QueryRow(t.Context(), sql).Scan(&left)
	})
	if strings.Contains(left, "7MB") || strings.Contains(left, "left_behind") {
		t.Errorf("left in the session: %s", left)
	}
	rig.Do(t, func() error { return conn.Close(t.Context()) })
	pool.Abandon(t.Context(), conn)
}

// The wait for a lock ends before the statement's time does, and is never without a limit.
func TestLimitOfALockWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lock, most, want time.Duration }{
		{time.Second, 8 * time.Second, time.Second}, {4 * time.Second, 8 * time.Second, 4 * time.Second},
		{5 * time.Second, 8 * time.Second, 4 * time.Second}, {0, 8 * time.Second, time.Millisecond},
		{time.Second, 0, time.Millisecond},
	} {
		rig.Want(t, "limit", pool.LockWait(c.lock, c.most), c.want)
	}
}
