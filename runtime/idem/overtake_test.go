package idem_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// stalled is a client that stopped in the middle of a transaction that appended to the
// ledger: of sending it, or of reading an answer that does not fit between client and server.
func stalled(t testing.TB, db *pgxpool.Pool, application, waits, then string) (pid uint32) {
	t.Helper()
	cfg := db.Config().ConnConfig.Config
	cfg.RuntimeParams["application_name"] = application
	return stalledAs(t, db, cfg, waits, then)
}

func stalledAs(t testing.TB, db *pgxpool.Pool, cfg pgconn.Config, waits, then string) (pid uint32) {
	t.Helper()
	conn, err := pgconn.ConnectConfig(t.Context(), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	h, err := conn.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Conn.Close() })
	f := pgproto3.NewFrontend(h.Conn, h.Conn)
	for _, sql := range []string{`INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq)
SELECT stream, seq + 1, gen_random_uuid(), next, next + 1, 'b', epoch, def, parts, window_seq FROM idem_ledger ORDER BY seq DESC LIMIT 1`, then} {
		f.SendParse(&pgproto3.Parse{Query: sql})
		f.SendBind(&pgproto3.Bind{})
		f.SendExecute(&pgproto3.Execute{})
	}
	f.Send(&pgproto3.Flush{}) // and no Sync
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	// An idle backend, which has not read the INSERT yet, waits in the same way.
	eventually(t, db, waits, fmt.Sprintf(`SELECT coalesce((SELECT wait_event FROM pg_stat_activity WHERE pid = %d AND backend_xid IS NOT NULL), '')`, h.PID))
	return h.PID
}

var stops = map[string]struct{ waits, then string }{
	"in sending": {"ClientRead", `SELECT 1`},
	"in reading": {"ClientWrite", `SELECT repeat('x', 100000) FROM generate_series(1, 1000)`},
}

func briefLocks(s *wire.Service) { s.Limits.LockTimeout = 300 * time.Millisecond }

// The new owner must not wait for ever for a client that stopped.
func TestFenceEndsAStalledTransaction(t *testing.T) {
	t.Parallel()
	for name, stop := range stops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			apply(t, own(t, service{}.consumer(t, db)), records(0, "put 1 1"))
			stalled(t, db, "idemgen", stop.waits, stop.then)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			w, err := service{edit: briefLocks}.consumer(t, db).Own(ctx, topic, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			want(t, "position", w.Next(), 1)
		})
	}
}

// Only what is surely this service's, and holds nothing but rows, is ended.
func TestFenceEndsNobodyElse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		application string
		lock        string
	}{
		"another program": {application: "psql"},
		"a migration":     {application: "idemgen", lock: "CREATE INDEX more ON idem_ledger (written_at)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			apply(t, own(t, service{}.consumer(t, db)), records(0, "put 1 1"))
			c := service{edit: func(s *wire.Service) { s.Limits.LockTimeout = 7 * time.Second }}.consumer(t, db)
			apply(t, own(t, c), records(1, "put 1 2")) // has its connections
			then := test.lock
			if then == "" {
				then = `SELECT 1`
			}
			pid := stalled(t, db, test.application, "ClientRead", then)
			ctx, cancel := context.WithTimeout(t.Context(), 14*time.Second) // two waits for the lock
			defer cancel()
			if _, err := c.Own(ctx, topic, 0, 0); err == nil {
				t.Error("taken over")
			}
			remains(t, db, pid)
		})
	}
}

// remains checks that a backend is still there.
func remains(t testing.TB, db *pgxpool.Pool, pid uint32) {
	t.Helper()
	want(t, "stalled transactions", query(t, db, fmt.Sprintf(`SELECT count(*)::text FROM pg_stat_activity WHERE pid = %d`, pid)), "1")
}

// Nor is another user's transaction ended, whatever it calls itself.
func TestFenceEndsNoOtherUser(t *testing.T) {
	lengthy(t)
	db := database(t)
	c := service{edit: briefLocks}.consumer(t, db)
	apply(t, own(t, c), records(0, "put 1 1"))
	cfg := db.Config().ConnConfig.Config
	user := fmt.Sprintf("other_of_%s", cfg.Database)
	idemtest.Exec(t, db, fmt.Sprintf(`CREATE ROLE "%s" LOGIN SUPERUSER PASSWORD 'other'`, user))
	t.Cleanup(func() { _, _ = db.Exec(context.Background(), fmt.Sprintf(`DROP ROLE "%s"`, user)) })
	cfg.User, cfg.Password, cfg.RuntimeParams["application_name"] = user, "other", "idemgen"
	pid := stalledAs(t, db, cfg, "ClientRead", `SELECT 1`)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // it is older than 5 s before that
	defer cancel()
	if _, err := c.Own(ctx, topic, 0, 0); err == nil {
		t.Error("taken over")
	}
	remains(t, db, pid)
}

// A transaction that began just now may be about to go on.
func TestFenceEndsNoYoungTransaction(t *testing.T) {
	lengthy(t)
	db := database(t)
	c := service{edit: briefLocks}.consumer(t, db)
	apply(t, own(t, c), records(0, "put 1 1"))
	pid := stalled(t, db, "idemgen", "ClientRead", `SELECT 1`)
	began, err := time.Parse(time.RFC3339Nano, query(t, db, fmt.Sprintf(`SELECT to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM pg_stat_activity WHERE pid = %d`, pid)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), began.Add(4500*time.Millisecond)) // less than 5 s, more than several waits
	defer cancel()
	if _, err := c.Own(ctx, topic, 0, 0); err == nil {
		t.Error("taken over")
	}
	remains(t, db, pid)
}

// An owner whose appends are not in doubt ends nobody: who stands in its place is its
// successor.
func TestAppendNotInDoubtEndsNobody(t *testing.T) {
	lengthy(t)
	db := database(t)
	sink := drive(t, service{edit: briefLocks}.consumer(t, db))
	assign(t, sink, 0)
	pid := stalled(t, db, "idemgen", "ClientRead", `SELECT 1`)
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second) // it is older than 5 s before that
	defer cancel()
	if err := sink.Deliver(ctx, first, records(0, "put 1 1")); err == nil {
		t.Error("delivered")
	}
	remains(t, db, pid)
}

// An append in doubt ends its own predecessor, whose client is gone: its
// backend waits for the rest of the transaction.
func TestAppendInDoubtEndsAStalledTransaction(t *testing.T) {
	lengthy(t)
	db := database(t)
	l := &line{sent: []byte("_append\x00")}
	sink := drive(t, service{edit: briefLocks}.consumer(t, l.through(t, db)))
	assign(t, sink, 0)
	stalled(t, db, "idemgen", "ClientRead", `SELECT 1`)
	l.armed.Store(true)
	deliver(t, sink, records(0, "put 1 1"))
	want(t, "rows", table(t, db), "1=1")
}

// A take-over ends what holds the ledger's row and has stopped: never another partition's
// handler that works, and holds a row of the user's.
func TestAppendInDoubtSparesOtherPartitions(t *testing.T) {
	lengthy(t)
	db := database(t)
	idemtest.Exec(t, db, `INSERT INTO t VALUES (1, 0)`)
	// The connection of the first that inserts is lost: it is in doubt.
	idemtest.Exec(t, db, `CREATE SEQUENCE n`)
	trigger(t, db, `IF nextval('n') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF`)
	limits := func(s *wire.Service) {
		s.Limits.LockTimeout, s.Limits.BatchTimeout, s.Limits.EventTimeout = time.Second, 30*time.Second, 20*time.Second
	}
	begun, done := make(chan struct{}, 1), make(chan error, 1)
	healthy := own(t, service{edit: limits, handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `UPDATE t SET v = v + 1 WHERE id = $1`, row)
		begun <- struct{}{}
		time.Sleep(8 * time.Second) // a call of another service, within event_timeout, and long enough to be suspected
		return err
	}}.consumer(t, db))
	go func() {
		_, err := healthy.Apply(t.Context(), records(0, "call 1"))
		done <- err
	}()
	<-begun
	w := ownPartition(t, service{edit: limits}.consumer(t, db), 1)
	var err error
	for range 30 {
		if _, err = w.Apply(t.Context(), records(0, "put 1 5")); err == nil {
			break
		}
	}
	if err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the handler's transaction was ended: %v", err)
	}
	want(t, "rows", table(t, db), "1=5")
}
