package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

var stops = map[string]struct{ waits, then string }{
	"in sending": {"ClientRead", `SELECT 1`},
	"in reading": {"ClientWrite", `SELECT repeat('x', 100000) FROM generate_series(1, 1000)`},
}

// The new owner must not wait for ever for a client that stopped.
func TestFenceEndsAStalledTransaction(t *testing.T) {
	t.Parallel()
	for name, stop := range stops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			rig.Apply(t, rig.Own(t, rig.Service{}.Consumer(t, db)), rig.Records(0, "put 1 1"))
			rig.Stalled(t, db, "idemgen", stop.waits, stop.then)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			w, err := rig.Service{Edit: rig.BriefLocks}.Consumer(t, db).Own(ctx, rig.Topic, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "position", w.Next(), 1)
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
			db := rig.Database(t)
			rig.Apply(t, rig.Own(t, rig.Service{}.Consumer(t, db)), rig.Records(0, "put 1 1"))
			c := rig.Service{Edit: func(s *wire.Service) { s.Limits.LockTimeout = 7 * time.Second }}.Consumer(t, db)
			rig.Apply(t, rig.Own(t, c), rig.Records(1, "put 1 2")) // has its connections
			then := test.lock
			if then == "" {
				then = `SELECT 1`
			}
			pid := rig.Stalled(t, db, test.application, "ClientRead", then)
			ctx, cancel := context.WithTimeout(t.Context(), 14*time.Second) // two waits for the lock
			defer cancel()
			if _, err := c.Own(ctx, rig.Topic, 0, 0); err == nil {
				t.Error("taken over")
			}
			remains(t, db, pid)
		})
	}
}

// remains checks that a backend is still there.
func remains(t testing.TB, db *pgxpool.Pool, pid uint32) {
	t.Helper()
	rig.Want(t, "stalled transactions", rig.Query(t, db, fmt.Sprintf(`SELECT count(*)::text FROM pg_stat_activity WHERE pid = %d`, pid)), "1")
}

// Nor is another user's transaction ended, whatever it calls itself.
func TestFenceEndsNoOtherUser(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	c := rig.Service{Edit: rig.BriefLocks}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "put 1 1"))
	cfg := db.Config().ConnConfig.Config
	user := fmt.Sprintf("other_of_%s", cfg.Database)
	idemtest.Exec(t, db, fmt.Sprintf(`CREATE ROLE "%s" LOGIN SUPERUSER PASSWORD 'other'`, user))
	t.Cleanup(func() { _, _ = db.Exec(context.Background(), fmt.Sprintf(`DROP ROLE "%s"`, user)) })
	cfg.User, cfg.Password, cfg.RuntimeParams["application_name"] = user, "other", "idemgen"
	pid := rig.StalledAs(t, db, cfg, "ClientRead", `SELECT 1`)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // it is older than 5 s before that
	defer cancel()
	if _, err := c.Own(ctx, rig.Topic, 0, 0); err == nil {
		t.Error("taken over")
	}
	remains(t, db, pid)
}

// A transaction that began just now may be about to go on.
func TestFenceEndsNoYoungTransaction(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	c := rig.Service{Edit: rig.BriefLocks}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "put 1 1"))
	pid := rig.Stalled(t, db, "idemgen", "ClientRead", `SELECT 1`)
	began, err := time.Parse(time.RFC3339Nano, rig.Query(t, db, fmt.Sprintf(`SELECT to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM pg_stat_activity WHERE pid = %d`, pid)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), began.Add(4500*time.Millisecond)) // less than 5 s, more than several waits
	defer cancel()
	if _, err := c.Own(ctx, rig.Topic, 0, 0); err == nil {
		t.Error("taken over")
	}
	remains(t, db, pid)
}

// An owner whose appends are not in doubt ends nobody: who stands in its place is its
// successor.
func TestAppendNotInDoubtEndsNobody(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{Edit: rig.BriefLocks}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	pid := rig.Stalled(t, db, "idemgen", "ClientRead", `SELECT 1`)
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second) // it is older than 5 s before that
	defer cancel()
	if err := sink.Deliver(ctx, rig.First, rig.Records(0, "put 1 1")); err == nil {
		t.Error("delivered")
	}
	remains(t, db, pid)
}

// An append in doubt ends its own predecessor, whose client is gone: its
// backend waits for the rest of the transaction.
func TestAppendInDoubtEndsAStalledTransaction(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	proxy, through := cutproxy.Pool(t, db)
	sink := rig.Drive(t, rig.Service{Edit: rig.BriefLocks}.Consumer(t, through))
	rig.Assign(t, sink, 0)
	rig.Stalled(t, db, "idemgen", "ClientRead", `SELECT 1`)
	proxy.Once(arrivesLast(appended))
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
}

// A take-over ends what holds the ledger's row and has stopped: never another partition's
// handler that works, and holds a row of the user's.
func TestAppendInDoubtSparesOtherPartitions(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	idemtest.Exec(t, db, `INSERT INTO t VALUES (1, 0)`)
	// The connection of the first that inserts is lost: it is in doubt.
	idemtest.Exec(t, db, `CREATE SEQUENCE n`)
	rig.Trigger(t, db, `IF nextval('n') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF`)
	limits := func(s *wire.Service) {
		s.Limits.LockTimeout, s.Limits.BatchTimeout, s.Limits.EventTimeout = time.Second, 30*time.Second, 20*time.Second
	}
	begun, done := make(chan struct{}, 1), make(chan error, 1)
	healthy := rig.Own(t, rig.Service{Edit: limits, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `UPDATE t SET v = v + 1 WHERE id = $1`, row)
		begun <- struct{}{}
		time.Sleep(8 * time.Second) // a call of another service, within event_timeout, and long enough to be suspected
		return err
	}}.Consumer(t, db))
	go func() {
		_, err := healthy.Apply(t.Context(), rig.Records(0, "call 1"))
		done <- err
	}()
	<-begun
	w := rig.OwnPartition(t, rig.Service{Edit: limits}.Consumer(t, db), 1)
	var err error
	for range 30 {
		if _, err = w.Apply(t.Context(), rig.Records(0, "put 1 5")); err == nil {
			break
		}
	}
	if err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the handler's transaction was ended: %v", err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=5")
}
