package outbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// gate keeps the answer to one read of events back, until it is opened.
type gate struct {
	least      int64 // rows
	shut       atomic.Bool
	kept, open chan struct{}
}

func newGate(least int64) *gate {
	return &gate{least: least, kept: make(chan struct{}), open: make(chan struct{})}
}

type gated struct{}

func (g *gate) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, gated{}, strings.Contains(q.SQL, "SELECT event.*"))
}

func (g *gate) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	if ctx.Value(gated{}) == true && q.CommandTag.RowsAffected() >= g.least && g.shut.CompareAndSwap(true, false) {
		close(g.kept)
		<-g.open
	}
}

// behind is a pool of the same database whose answers go through a gate.
func behind(t *testing.T, db *pgxpool.Pool, g *gate) *pgxpool.Pool {
	t.Helper()
	config := db.Config()
	config.ConnConfig.Tracer = g
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// answered has the broker answer a record that was stuck.
func (l *log) answered(t *testing.T, err error) {
	t.Helper()
	until(t, "the record is on its way", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.stuck) == 1 })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stuck[0](err)
	l.stuck = nil
}

// A relay whose session ended leads again, and Health is good then. Columns that are no text are
// no headers, and an event without a topic is refused.
func TestRelayLeadsAgain(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	idemtest.Exec(t, db, `ALTER TABLE idem_outbox ADD COLUMN created_at timestamptz DEFAULT now(), ADD COLUMN n int DEFAULT 1`)
	g := newGate(0)
	pool := behind(t, db, g)
	r, _ := relay(t, pool, broker, func(r *outbox.Runner) {
		r.SetPace(20*time.Millisecond, 0)
		r.Topic = func(string) string { return "" }
	})
	write(t, db, "7", "1")
	until(t, "it is refused", func() bool { return strings.Contains(fmt.Sprint(r.Health()), "Relay.Topic has no topic for it") })
	terms := pool.Stat().AcquireCount()
	idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	until(t, "it leads again", func() bool {
		return pool.Stat().AcquireCount() > terms && !strings.Contains(fmt.Sprint(r.Health()), "terminat")
	})
	until(t, "it is refused again", func() bool { return strings.Contains(fmt.Sprint(r.Health()), "Relay.Topic has no topic for it") })
	idemtest.Exec(t, db, `DELETE FROM idem_outbox`)
	until(t, "Health is good", func() bool { return r.Health() == nil })
}

// A relay that gets no connection says so.
func TestRelayWithoutAConnection(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	config := db.Config()
	config.MaxConns = 1
	full, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(full.Close)
	conn, err := full.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Release) // else Close waits for it
	began := time.Now()
	r, _ := relay(t, full, broker, func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, time.Second) })
	until(t, "Health says it", func() bool { return strings.Contains(fmt.Sprint(r.Health()), "events: no connection of the pool") })
	if took := time.Since(began); took > 25*time.Second { // testing sessions ends after 30 seconds, and says the same
		t.Errorf("Health says only after %v that the pool is full", took)
	}
	conn.Release()
	write(t, db, "7", "1")
	until(t, "it leads", func() bool { return left(t, db) == "0" && r.Health() == nil })
}

// An event is refused while the next one of its aggregate is being read: it is not overtaken.
func TestAReadDoesNotOvertakeARefusedEvent(t *testing.T) {
	t.Parallel()
	db, broker, g := table(t, outbox.ByRelay), &log{}, newGate(1)
	broker.answers(func(outbox.Record) error { return errStuck })
	r, _ := relay(t, behind(t, db, g), broker, nil)
	write(t, db, "7", "1")
	until(t, "the first is on its way", func() bool { broker.mu.Lock(); defer broker.mu.Unlock(); return len(broker.stuck) == 1 })
	g.shut.Store(true)
	write(t, db, "7", "2")
	<-g.kept
	broker.answers(nil)
	broker.answered(t, &outbox.RefusedError{Err: errStuck})
	until(t, "it is held back", func() bool { return r.Health() != nil })
	close(g.open)
	until(t, "all is sent", func() bool { return left(t, db) == "0" })
	if got := broker.of("7"); got != "1 2" {
		t.Errorf("sent %s", got)
	}
}

// A relay that was asleep between an answer of Postgres and reading it does not take the answer
// for a sign that it still leads.
func TestAnOldAnswerIsNoLead(t *testing.T) {
	t.Parallel()
	db, broker, g := table(t, outbox.ByRelay), &log{}, newGate(0)
	broker.answers(func(r outbox.Record) error {
		if string(r.Value) == "2" {
			return errStuck
		}
		return nil
	})
	write(t, db, "7", "1", "2", "3")
	pool := behind(t, db, g)
	_, stop := relay(t, pool, broker, func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, 500*time.Millisecond) })
	until(t, "the second is on its way", func() bool { broker.mu.Lock(); defer broker.mu.Unlock(); return len(broker.stuck) == 1 })
	g.shut.Store(true)
	<-g.kept
	another := &log{}
	relay(t, db, another, func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, 0) })
	until(t, "another one has sent all", func() bool { return left(t, db) == "0" })
	broker.answered(t, nil)
	terms := pool.Stat().AcquireCount()
	close(g.open)
	until(t, "it knows that it does not lead", func() bool { return pool.Stat().AcquireCount() > terms })
	stop()
	if got := broker.of("7"); got != "1" {
		t.Errorf("sent by a relay that did not lead any more: %s", got)
	}
	if got := another.of("7"); got != "1 2 3" && got != "2 3" {
		t.Errorf("sent by the one that leads: %s", got)
	}
}
