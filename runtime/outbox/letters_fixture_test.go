package outbox_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/templates"
)

// plan passes over each record "fine", and refuses every other one until it is mended.
type plan struct{ mended *atomic.Bool }

func (p plan) Add(b *wire.Batch, m *wire.Message) error {
	if string(m.Value) != "fine" && !p.mended.Load() {
		return &wire.DecodeError{Event: "Order", Path: "amount", Reason: "must be a number"}
	}
	b.Ignore()
	return nil
}

func (plan) Flush(*wire.Batch) {}

// shop is a consumer with partition 0 of topic orders.v1, which it owns.
type shop struct {
	*idem.Consumer
	*idemtest.Writer
	mended atomic.Bool
	next   int64
}

var policy = wire.FailurePolicy{StopAfter: 1000, Park: true, Keep: time.Hour}

func newShop(t testing.TB, db *pgxpool.Pool, name string, policy wire.FailurePolicy, topics ...string) *shop {
	t.Helper()
	s := &shop{}
	spec := wire.Service{
		Consumer: name, Schema: map[string]int{"core": 1, "keys": 1, "effects": 1}, Identity: wire.Identity{Writes: 1, Knows: []uint32{1}},
		Limits: wire.Limits{
			BatchEvents: 500, BatchBytes: 4 << 20, BatchWait: 50 * time.Millisecond, BatchTimeout: 10 * time.Second, EventTimeout: 5 * time.Second,
			StatementTimeout: 8 * time.Second, LockTimeout: 5 * time.Second, MaxPollInterval: 5 * time.Minute, MaxPayload: 1 << 20,
		},
	}
	for _, topic := range append([]string{"orders.v1"}, topics...) {
		spec.Topics = append(spec.Topics, wire.Topic{Name: topic, StartFrom: wire.Earliest, OnFailure: policy, NewPlan: func() wire.Plan { return plan{&s.mended} }})
	}
	var err error
	if s.Consumer, err = idem.New(db, spec, idem.WithLogger(slog.New(slog.DiscardHandler))); err != nil {
		t.Fatal(err)
	}
	if s.Writer, err = idemtest.Own(t, s.Consumer, "orders.v1", 0, 0); err != nil {
		t.Fatal(err)
	}
	return s
}

// take applies records after those that were. A value "-" is a tombstone.
func (s *shop) take(t testing.TB, values ...string) {
	t.Helper()
	var all []idem.Message
	for _, v := range values {
		m := idem.Message{Topic: "orders.v1", Offset: s.next, LeaderEpoch: -1, Time: time.UnixMilli(1700000000000)}
		s.next++
		m.Key = fmt.Appendf(nil, "key %d", m.Offset)
		if key, value, ok := strings.Cut(v, "/"); ok {
			m.Key, v = []byte(key), value
		}
		if v != "-" {
			m.Value = []byte(v)
		}
		m.Headers = []idem.Header{{Name: "tenant", Value: []byte("t 1")}, {Name: "idem.id", Value: []byte("of before")}, {Name: "none"}}
		all = append(all, m)
	}
	s.apply(t, all)
}

func (s *shop) apply(t testing.TB, all []idem.Message) {
	t.Helper()
	if _, err := s.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// ask has the owner replay or discard a letter.
func (s *shop) ask(t testing.TB, db *pgxpool.Pool, verb string, offset int64) {
	t.Helper()
	found, err := operate.FindLetters(t.Context(), db, []operate.Place{{Consumer: s.Name(), Topic: "orders.v1", Offset: offset}})
	if err == nil {
		_, err = operate.Ask(t.Context(), db, found[:1], verb, nil, operate.By{Operator: "ann", Reason: "test"})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.apply(t, nil)
}

// letterTables is a database with the tables of runtime and outbox, in which the dead letters of
// consumer shop are sent.
func letterTables(t testing.TB) *pgxpool.Pool {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.SQL); err != nil {
		t.Fatal(err)
	}
	db := idemtest.Migrated(t, filepath.Join(dir, "sql"))
	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay)+outbox.DeadLetterMigration())
	idemtest.Exec(t, db, `INSERT INTO idem_dead_letter_topic (consumer, topic) VALUES ('shop', 'orders.dead')`)
	return db
}

// unsent are the offsets of letters that wait to be sent.
func unsent(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return query(t, db, `SELECT coalesce(string_agg(idem_letter[array_position(idem_letter, 'idem.offset') + 1], ' ' ORDER BY seq), '')
		FROM idem_outbox WHERE idem_letter IS NOT NULL`)
}

// header is the value of a record's only header of that name; "none" if there is none.
func header(r outbox.Record, name string) string {
	value := "none"
	for _, h := range r.Headers {
		switch {
		case h.Name == name && value != "none":
			return "several"
		case h.Name == name:
			value = string(h.Value)
		}
	}
	return value
}

// sent are the headers of all records that a broker has.
func (l *log) sent(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, r := range l.records {
		all = append(all, header(r, name))
	}
	return strings.Join(all, " ")
}

func want(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}
