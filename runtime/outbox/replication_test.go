package outbox_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A transaction with synchronous_commit = off is visible before it is on disk, and a crash takes
// it back. The relay sends its event once it is on disk.
func TestRelaySendsWhatIsOnDisk(t *testing.T) {
	t.Parallel()
	server, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{Durable: true, Conf: map[string]string{"wal_writer_delay": "10s", "synchronous_commit": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	db, err := pgxpool.New(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
	to := &log{}
	sentEarly := false
	var written atomic.Pointer[string]
	to.answer = func(outbox.Record) error {
		var flushed bool
		err := db.QueryRow(t.Context(), `SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn`, *written.Load()).Scan(&flushed)
		sentEarly = sentEarly || err != nil || !flushed
		return nil
	}
	_, _ = relay(t, db, to, func(r *outbox.Runner) { r.SetPace(10*time.Millisecond, time.Second) })
	for n := range 5 {
		tx, err := db.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := outbox.Write(t.Context(), tx, outbox.Event{AggregateType: "user", AggregateID: "7", Type: "Seen", Payload: outbox.Bytes([]byte("1"))}); err != nil {
			t.Fatal(err)
		}
		var lsn string
		if err := tx.QueryRow(t.Context(), `SELECT pg_current_wal_insert_lsn()::text`).Scan(&lsn); err != nil {
			t.Fatal(err)
		}
		written.Store(&lsn)
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, "the event is sent", func() bool { return len(strings.Fields(to.of("7"))) == n+1 })
	}
	if sentEarly {
		t.Error("an event was sent that was not on disk")
	}
}

// A commit whose wait for its synchronous standby was cancelled is visible, and a failover may
// lose it. The relay sends the event once the standby has it.
func TestRelaySendsWhatTheStandbyHas(t *testing.T) {
	t.Parallel()
	server, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	db, err := pgxpool.New(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
	// gaveUp reports whether a statement was committed, but its wait for the standby cancelled.
	gaveUp := func(do func(ctx context.Context) error) bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		return do(ctx) != nil
	}
	standby := func(name string) {
		idemtest.Exec(t, db, `ALTER SYSTEM SET synchronous_standby_names = '`+name+`'`)
		idemtest.Exec(t, db, `SELECT pg_reload_conf()`)
		until(t, "commits wait as the settings say", func() bool {
			return (name != "") == gaveUp(func(ctx context.Context) error {
				_, err := db.Exec(ctx, `SELECT pg_logical_emit_message(true, 'test', '')`)
				return err
			})
		})
	}
	standby("nobody")
	until(t, "the event is visible", func() bool { // a write that was cancelled before its commit is made again, and so may one that becomes visible late
		waited := gaveUp(func(ctx context.Context) error {
			return outbox.Write(ctx, db, outbox.Event{AggregateType: "user", AggregateID: "7", Type: "Seen", Payload: outbox.Bytes([]byte("1"))})
		})
		return waited && left(t, db) != "0"
	})
	to := &log{}
	r, _ := relay(t, db, to, func(r *outbox.Runner) { r.SetPace(50*time.Millisecond, time.Second) })
	until(t, "Health says what is waited for", func() bool {
		err := r.Health()
		return err != nil && strings.Contains(err.Error(), "synchronous standby")
	})
	if sent := to.of(""); sent != "" {
		t.Errorf("sent %q, which no standby has", sent)
	}
	standby("")
	until(t, "the event is sent", func() bool { return to.of("") != "" && left(t, db) == "0" && r.Health() == nil })
}
