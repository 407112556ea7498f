package outbox

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

var table = wire.Outbox{
	Table:   "idem_outbox_orders",
	Headers: []wire.OutboxHeader{{Name: "Trace-Id", Column: "header_trace_id"}},
}

const tableSQL = `
CREATE TABLE idem_outbox_orders (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id bigint GENERATED ALWAYS AS IDENTITY,
    event_id uuid NOT NULL,
    topic text NOT NULL,
    record_key text NOT NULL,
    event_type text NOT NULL,
    payload bytea,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    header_trace_id text,
    PRIMARY KEY (id))`

func database(t testing.TB) *pgxpool.Pool {
	db := idemtest.DB(t)
	idemtest.Exec(t, db, tableSQL)
	return db
}

// quickPace is a pace for tests that do not measure it.
func quickPace() *pace {
	p := usualPace
	p.standby, p.heartbeat, p.floor = 50*time.Millisecond, 100*time.Millisecond, 50*time.Millisecond
	p.retry, p.mostRetry = 50*time.Millisecond, 200*time.Millisecond
	return &p
}

// newRelay is a relay that logs into the returned text.
func newRelay(db *pgxpool.Pool, to Producer) (*Relay, *lockedText) {
	log := &lockedText{}
	r := New(db, table, to)
	r.Logger, r.pace, r.Poll = slog.New(slog.NewTextHandler(log, nil)), quickPace(), 10*time.Millisecond
	return r, log
}

type lockedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs a relay until stop is called, or the test ends.
func start(t testing.TB, ctx context.Context, r *Relay) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			return fmt.Errorf("Run did not return within 20 s of its context's end")
		}
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return stop
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 15 s: %s", what)
		}
	}
}

// insert writes one row. Value is the payload, nil for a tombstone.
func insert(t testing.TB, db interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, topic, key string, value []byte) (id int64) {
	t.Helper()
	err := db.QueryRow(context.Background(), `
INSERT INTO idem_outbox_orders (event_id, topic, record_key, event_type, payload)
VALUES (gen_random_uuid(), $1, $2, 'Placed', $3) RETURNING id`, topic, key, value).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func count(t testing.TB, db *pgxpool.Pool, sql string, args ...any) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func isEmpty(t testing.TB, db *pgxpool.Pool) func() bool {
	return func() bool { return count(t, db, `SELECT count(*) FROM idem_outbox_orders`) == 0 }
}

// memory is a Producer that keeps what it is sent, one record after the other.
type memory struct {
	mu      sync.Mutex
	log     []Record
	sends   [][]Record
	opens   int
	closes  int
	answer  func(ctx context.Context, r Record) error // nil, or of nil: it takes the record
	openErr error
}

func (m *memory) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *memory) Open(context.Context) (Sender, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.openErr != nil {
		return nil, m.openErr
	}
	m.opens++
	return (*memorySender)(m), nil
}

type memorySender memory

func (s *memorySender) Close() error {
	(*memory)(s).set(func() { s.closes++ })
	return nil
}

func (s *memorySender) Send(ctx context.Context, records []Record) []error {
	m := (*memory)(s)
	var answer func(context.Context, Record) error
	m.set(func() {
		m.sends = append(m.sends, slices.Clone(records))
		answer = m.answer
	})
	errs := make([]error, len(records))
	failed := map[string]bool{}
	for i, r := range records {
		at := r.Topic + " " + string(r.Key)
		if failed[at] {
			errs[i] = ErrHeldBack
			continue
		}
		if answer != nil {
			errs[i] = answer(ctx, r)
		}
		if failed[at] = errs[i] != nil; errs[i] == nil {
			m.set(func() { m.log = append(m.log, r) })
		}
	}
	return errs
}

// values are the values that Kafka has, in order; "-" is a tombstone.
func (m *memory) values() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.log {
		if r.Value == nil {
			all = append(all, "-")
		} else {
			all = append(all, string(r.Value))
		}
	}
	return all
}

func (m *memory) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sends)
}

func header(r Record, name string) string {
	for _, h := range r.Headers {
		if h.Name == name {
			return string(h.Value)
		}
	}
	return ""
}

func wantValues(t testing.TB, m *memory, want ...string) {
	t.Helper()
	eventually(t, strings.Join(want, " ")+" are sent", func() bool { return len(m.values()) >= len(want) })
	if got := m.values(); !slices.Equal(got, want) {
		t.Fatalf("Kafka has %q, want %q", got, want)
	}
}

func poolOf(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return poolWith(t, config)
}

func poolWith(t testing.TB, config *pgxpool.Config) *pgxpool.Pool {
	t.Helper()
	db, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}
