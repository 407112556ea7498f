package textbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

const (
	payments = "payments.v1"
	users    = "outbox.event.user"
	account  = "00000000-0000-4000-8000-000000000001"
	ada      = "00000000-0000-4000-8000-000000000002"
)

// A gap is a place in a recipe where the world goes on: the process ends there (crash), or it is
// paused while another one does what the gap does. The nil gap is passed at once.
type gap func() error

func (g gap) pass() error {
	if g == nil {
		return nil
	}
	return g()
}

var errCrash = errors.New("the process ends here")

func crash() error { return errCrash }

// received is a record of a payment. Its receipt is named after its id.
func received(offset int64, id string, cents int64) idem.Message {
	return idem.Message{
		Topic: payments, Offset: offset, LeaderEpoch: -1, Key: []byte(account),
		Headers: []idem.Header{{Name: "Idempotency-Key", Value: []byte(id)}},
		Value:   fmt.Appendf(nil, `{"payment_id": %q, "receipt": "R-%s", "cents": %d}`, id, id, cents),
	}
}

// moved is a record at another place of the topic: the producer sent it again.
func moved(m idem.Message, partition int32, offset int64) idem.Message {
	m.Partition, m.Offset = partition, offset
	return m
}

// header is the first header of a name, as recipes read it; "" if there is none.
func header(m idem.Message, name string) string {
	for _, h := range m.Headers {
		if h.Name == name {
			return string(h.Value)
		}
	}
	return ""
}

// key is what makes two records one event.
func key(m idem.Message) string { return header(m, "Idempotency-Key") }

type payment struct {
	ID      string `json:"payment_id"`
	Receipt string `json:"receipt"`
	Cents   int64  `json:"cents"`
}

// A session is a pool or a transaction.
type session interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// book is the effect of a payment in each recipe: it adds to the account.
func book(ctx context.Context, db session, m idem.Message) error {
	var p payment
	if err := json.Unmarshal(m.Value, &p); err != nil {
		return err
	}
	_, err := db.Exec(ctx, `INSERT INTO accounts VALUES ($1, $2)
		ON CONFLICT (account_id) DO UPDATE SET cents = accounts.cents + EXCLUDED.cents`, string(m.Key), p.Cents)
	return err
}

// processed makes a database with the table that recipes keep ids in.
func processed(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := idemtest.Migrated(t, "migrations")
	idemtest.Exec(t, db, `CREATE TABLE processed (id text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now())`)
	return db
}

// known reports whether an id is in that table.
func known(ctx context.Context, db session, id string) (found bool, err error) {
	err = db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM processed WHERE id = $1)`, id).Scan(&found)
	return found, err
}

// consumer is the generated one.
func consumer(t *testing.T, db *pgxpool.Pool) *idem.Consumer {
	t.Helper()
	c, err := NewConsumer(db, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// own takes a partition over with the generated consumer, as a process does that begins.
func own(t *testing.T, db *pgxpool.Pool, topic string, partition int32) *idemtest.Writer {
	t.Helper()
	w, err := idemtest.Own(t, consumer(t, db), topic, partition, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// apply has the generated consumer apply records in one batch.
func apply(t *testing.T, w *idemtest.Writer, want idem.Result, records ...idem.Message) {
	t.Helper()
	if got, err := w.Apply(t.Context(), records); err != nil || got != want {
		t.Errorf("generated: %+v, %v; want %+v", got, err, want)
	}
}

// crashAt has the generated consumer end at a step of a record's transaction, and reports whether
// it came there.
func crashAt(t *testing.T, w *idemtest.Writer, step string, m idem.Message) bool {
	t.Helper()
	ctx := idemtest.AtSteps(t.Context(), func(at string) error {
		if at == step {
			return errCrash
		}
		return nil
	})
	_, err := w.Apply(ctx, []idem.Message{m})
	if err != nil {
		crashed(t, err)
	}
	return err != nil
}

// refuses has idemgen read the spec with a change in it, which it must refuse with a code.
func refuses(t *testing.T, code, old, changed string) {
	t.Helper()
	text, err := os.ReadFile("idemgen.yaml")
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%v: the spec does not hold %q", err, old)
	}
	parsed, problems := syntax.Load("idemgen.yaml", []byte(strings.Replace(string(text), old, changed, 1)))
	_, more := resolve.Resolve(parsed)
	problems.Append(more)
	for _, p := range problems.Sorted() {
		if p.Code == code {
			return
		}
	}
	t.Errorf("%s is not refused with %s: %v", changed, code, problems.Sorted())
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never was so that %s", what)
		}
	}
}

// must is for what a recipe does without an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// crashed is for a recipe that ended in a gap.
func crashed(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, errCrash) {
		t.Fatalf("it went on: %v", err)
	}
}

// holds compares what a query finds, as text.
func holds(t *testing.T, db *pgxpool.Pool, whose, sql, want string) {
	t.Helper()
	var got string
	if err := db.QueryRow(t.Context(), `SELECT coalesce((`+sql+`)::text, 'nothing')`).Scan(&got); err != nil || got != want {
		t.Errorf("%s: %s, %v; want %s", whose, got, err, want)
	}
}

// balance compares the account; of a recipe and of the generated consumer alike.
func balance(t *testing.T, db *pgxpool.Pool, whose string, want int) {
	t.Helper()
	holds(t, db, whose+", balance", `SELECT coalesce(sum(cents), 0) FROM accounts`, fmt.Sprint(want))
}
