package textbook

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A topic has what was sent, in order. It is an outbox.Producer.
type topic struct {
	mu   sync.Mutex
	sent []string
}

func (p *topic) send(value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, value)
}

func (p *topic) Produce(r outbox.Record, done func(error)) {
	p.send(string(r.Value))
	go done(nil)
}

func (p *topic) Purge() {}

// has reports whether the values were sent, each once and in any order.
func (p *topic) has(values ...string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Equal(slices.Sorted(slices.Values(p.sent)), values)
}

// poll sends the events with a greater number than the last one that was sent, and returns the
// number to go on from.
func poll(ctx context.Context, db *pgxpool.Pool, to *topic, last int64) (int64, error) {
	rows, err := db.Query(ctx, `SELECT seq, convert_from(payload, 'UTF8') FROM idem_outbox WHERE seq > $1 ORDER BY seq`, last)
	if err != nil {
		return last, err
	}
	var value string
	_, err = pgx.ForEachRow(rows, []any{&last, &value}, func() error { to.send(value); return nil })
	return last, err
}

// send sends an event in a transaction.
func send(t *testing.T, tx outbox.Tx, id, value string) {
	t.Helper()
	must(t, outbox.Write(t.Context(), tx, outbox.Event{
		AggregateType: "user", AggregateID: id, Type: "UserSaved", Payload: outbox.Bytes([]byte(value)),
	}))
}

// interleaved writes two events. The one with the lower number commits last, behind between.
func interleaved(t *testing.T, db *pgxpool.Pool, between func()) {
	t.Helper()
	slow, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback(t.Context())
	send(t, slow, ada, "1, late")
	send(t, db, bob, "2, early")
	between()
	must(t, slow.Commit(t.Context()))
}

// Numbers are drawn when a row is written, and rows are seen when they commit. A poll that saw a
// higher number never looks for the lower one again.
func TestOutboxPolledByItsNumber(t *testing.T) {
	t.Parallel()
	db := idemtest.Migrated(t, "migrations")
	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
	polled, last := &topic{}, int64(0)
	look := func() {
		var err error
		last, err = poll(t.Context(), db, polled, last)
		must(t, err)
	}
	interleaved(t, db, look)
	look()
	if !polled.has("2, early") || last != 2 {
		t.Errorf("polled up to %d: %s", last, strings.Join(polled.sent, "; "))
	}

	idemtest.Exec(t, db, `TRUNCATE idem_outbox`)
	relayed := &topic{}
	relay := &outbox.Relay{DB: db, Producer: relayed, Logger: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(ctx) }()
	interleaved(t, db, func() { until(t, "the early one is sent", func() bool { return relayed.has("2, early") }) })
	until(t, "both are sent", func() bool { return relayed.has("1, late", "2, early") })
	stop()
	must(t, <-ended)
}
