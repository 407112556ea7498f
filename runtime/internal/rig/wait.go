package rig

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// OwnServer returns a server of the test's own, which may be crashed, and a pool on it.
func OwnServer(t *testing.T) (*idemtest.Postgres, *pgxpool.Pool) {
	t.Helper()
	server, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{TCP: true, Durable: true}) // else a crash takes commits back
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	db, err := pgxpool.New(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	Migrate(t, db)
	return server, db
}

// Do does what an operator does.
func Do(t *testing.T, order func() error) {
	t.Helper()
	if err := order(); err != nil {
		t.Fatal(err)
	}
}

// Soon is how long a test waits for what must happen, on a busy machine.
const Soon = time.Minute

// Within waits until a condition holds, at most for [Soon].
func Within(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(Soon); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", Soon, what)
		}
	}
}

// Tells reports whether Health says a text of a partition.
func Tells(c *Consumer, p, text string) bool {
	err := c.Health().Err()
	if err == nil {
		return false
	}
	for line := range strings.Lines(err.Error()) {
		if strings.HasPrefix(line, p) && strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// TwoPartitions assigns two partitions, each with a record applied.
func TwoPartitions(t *testing.T, sink idem.Sink) []idem.Partition {
	t.Helper()
	list := []idem.Partition{First, {Topic: Topic, Number: 1}}
	for _, p := range list {
		a := NewSource(nil).Assignment
		a.Partition = p
		if _, err := sink.Assigned(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if err := sink.Deliver(t.Context(), p, RecordsOf(p, 0, "put 1 1")); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// RecordsOf is [Records] for a partition.
func RecordsOf(p idem.Partition, from int64, texts ...string) []idem.Message {
	list := Records(from, texts...)
	for i := range list {
		list[i].Partition = p.Number
	}
	return list
}

// Stalled is a client that stopped in the middle of a transaction that appended to the
// ledger: of sending it, or of reading an answer that does not fit between client and server.
func Stalled(t testing.TB, db *pgxpool.Pool, application, waits, then string) (pid uint32) {
	t.Helper()
	cfg := db.Config().ConnConfig.Config
	cfg.RuntimeParams["application_name"] = application
	return StalledAs(t, db, cfg, waits, then)
}

// StalledAs is [Stalled] for a client with settings of its own.
func StalledAs(t testing.TB, db *pgxpool.Pool, cfg pgconn.Config, waits, then string) (pid uint32) {
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
	Eventually(t, db, waits, fmt.Sprintf(`SELECT coalesce((SELECT wait_event FROM pg_stat_activity WHERE pid = %d AND backend_xid IS NOT NULL), '')`, h.PID))
	return h.PID
}

// BriefLocks shortens lock_timeout.
func BriefLocks(s *wire.Service) { s.Limits.LockTimeout = 300 * time.Millisecond }

// Eventually waits until a query answers want.
func Eventually(t testing.TB, db *pgxpool.Pool, want, sql string) {
	t.Helper()
	for deadline := time.Now().Add(Soon); ; time.Sleep(10 * time.Millisecond) {
		got := Query(t, db, sql)
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %s, want %s: %s", got, want, sql)
		}
	}
}

// KeysAndBriefLocks is [BriefLocks], with keys in the chain.
func KeysAndBriefLocks(s *wire.Service) {
	BriefLocks(s)
	s.Topics[0].Chain = time.Hour
	s.Topics[0].OnFailure.StopAfter = 20
}
