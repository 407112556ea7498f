package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// A record is its row: key, value or tombstone, and the headers in their order.
func TestRecordIsItsRow(t *testing.T) {
	db, kafka := database(t), &memory{}
	idemtest.Exec(t, db, `
INSERT INTO idem_outbox_orders (event_id, topic, record_key, event_type, payload, header_trace_id) VALUES
('00000000-0000-0000-0000-00000000000a', 'orders', 'k1', 'Placed', '{"a":1}', 'tr'),
('00000000-0000-0000-0000-00000000000b', 'orders', 'k2', 'Gone', NULL, NULL),
('00000000-0000-0000-0000-00000000000c', 'orders', 'k3', 'Empty', '', '')`)
	r, _ := newRelay(db, kafka)
	start(t, t.Context(), r)
	wantValues(t, kafka, `{"a":1}`, "-", "")
	got := ""
	for _, rec := range kafka.log {
		got += fmt.Sprintf("%s %s", rec.Topic, rec.Key)
		for _, h := range rec.Headers {
			got += fmt.Sprintf(" %s=%s", h.Name, h.Value)
		}
		got += "\n"
	}
	const want = `orders k1 Idempotency-Key=00000000-0000-0000-0000-00000000000a event-type=Placed Trace-Id=tr
orders k2 Idempotency-Key=00000000-0000-0000-0000-00000000000b event-type=Gone
orders k3 Idempotency-Key=00000000-0000-0000-0000-00000000000c event-type=Empty Trace-Id=
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	eventually(t, "the rows are deleted", isEmpty(t, db))
	if s := r.Stats(); s.Sent != 3 || !s.Leads || s.Undeliverable != 0 {
		t.Errorf("%+v", s)
	}
}

// A relay that dies between Kafka's answer and the delete leaves rows that are sent again, as the
// same events.
func TestCrashBeforeTheDelete(t *testing.T) {
	db, kafka := database(t), &memory{}
	insert(t, db, "t", "a", []byte("1"))
	insert(t, db, "t", "b", []byte("2"))
	var crashed atomic.Bool
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.Acknowledged && crashed.CompareAndSwap(false, true) {
			return errors.New("crash")
		}
		return nil
	})
	r, _ := newRelay(db, kafka)
	start(t, ctx, r)
	wantValues(t, kafka, "1", "2", "1", "2")
	eventually(t, "the rows are deleted", isEmpty(t, db))
	for i := range 2 {
		if a, b := header(kafka.log[i], "Idempotency-Key"), header(kafka.log[i+2], "Idempotency-Key"); a != b || a == "" {
			t.Errorf("event %d has id %q, then %q", i, a, b)
		}
	}
}

// Nothing is deleted that Kafka did not acknowledge.
func TestARowStaysUntilKafkaHasIt(t *testing.T) {
	db, kafka := database(t), &memory{answer: func(context.Context, Record) error { return errors.New("timed out") }}
	insert(t, db, "t", "a", []byte("1"))
	r, _ := newRelay(db, kafka)
	stop := start(t, t.Context(), r)
	eventually(t, "it was tried twice", func() bool { return kafka.calls() >= 2 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if n := count(t, db, `SELECT count(*) FROM idem_outbox_orders`); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// What Kafka has is deleted when the database is back, and is not sent again.
func TestWhatKafkaHasIsNotSentAgainAfterALostConnection(t *testing.T) {
	db, kafka := database(t), &memory{}
	insert(t, db, "t", "a", []byte("1"))
	var cut atomic.Bool
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.Acknowledged && cut.CompareAndSwap(false, true) {
			terminate(t, db)
		}
		return nil
	})
	r, _ := newRelay(db, kafka)
	start(t, ctx, r)
	eventually(t, "the rows are deleted", isEmpty(t, db))
	insert(t, db, "t", "a", []byte("2"))
	wantValues(t, kafka, "1", "2")
}

// A failover may take the sequence of ids back: a row is deleted by its id and its event.
func TestAnotherEventOfTheSameIDStays(t *testing.T) {
	db, kafka := database(t), &memory{}
	id := insert(t, db, "t", "a", []byte("1"))
	lead := leading(t, db, kafka)
	lead.acked = []named{{id, "00000000-0000-0000-0000-000000000001"}}
	if err := lead.remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, db, `SELECT count(*) FROM idem_outbox_orders`); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// terminate ends the sessions of the relays.
func terminate(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'idemgen relay' AND datname = current_database()`)
}

// When Run's context ends, what is on its way is waited for and deleted, and nothing new is sent.
func TestEndFinishesWhatIsOnItsWay(t *testing.T) {
	db := database(t)
	sending, goOn := make(chan struct{}), make(chan struct{})
	kafka := &memory{answer: func(ctx context.Context, _ Record) error {
		sending <- struct{}{}
		<-goOn
		return ctx.Err()
	}}
	insert(t, db, "t", "a", []byte("1"))
	r, _ := newRelay(db, kafka)
	stop := start(t, t.Context(), r)
	<-sending
	insert(t, db, "t", "a", []byte("2"))
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	time.Sleep(50 * time.Millisecond)
	close(goOn)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	wantValues(t, kafka, "1")
	if n := count(t, db, `SELECT count(*) FROM idem_outbox_orders`); n != 1 {
		t.Errorf("%d rows stay", n)
	}
	if kafka.closes != 1 {
		t.Errorf("the sender was closed %d times", kafka.closes)
	}
	if err := r.Health(); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Error(err)
	}
}

// Kafka that does not answer is waited for at the end, but not for ever.
func TestEndIsBounded(t *testing.T) {
	db, kafka := database(t), &memory{answer: func(ctx context.Context, _ Record) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	insert(t, db, "t", "a", []byte("1"))
	r, _ := newRelay(db, kafka)
	r.pace.drain, r.pace.late = 200*time.Millisecond, 50*time.Millisecond
	stop := start(t, t.Context(), r)
	eventually(t, "Health says that Kafka does not answer", func() bool {
		err := r.Health()
		return err != nil && strings.Contains(err.Error(), "no answer of Kafka for")
	})
	begun := time.Now()
	if err := stop(); err != nil || time.Since(begun) < r.pace.drain || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// Reads are bounded by rows and by bytes; a row above that goes alone.
func TestBackPressure(t *testing.T) {
	db, kafka := database(t), &memory{}
	for i := range 25 {
		insert(t, db, "t", fmt.Sprint(i), make([]byte, 10))
	}
	for _, size := range []int{400, 400, 400, 5000, 400} {
		insert(t, db, "t", "big", make([]byte, size))
	}
	r, _ := newRelay(db, kafka)
	r.BatchRows, r.BatchBytes = 10, 1000
	start(t, t.Context(), r)
	eventually(t, "the table is empty", isEmpty(t, db))
	for i, send := range kafka.sends {
		before := 0
		for _, rec := range send[:len(send)-1] { // the last row passes the limit
			before += len(rec.Value)
		}
		if len(send) > 10 || before >= 1000 {
			t.Errorf("call %d: %d records, %d bytes before the last one", i, len(send), before)
		}
	}
	if n := len(kafka.sends); n < 5 || n > 8 {
		t.Errorf("%d calls", n)
	}
}

// Where the database answers and refuses, Run says so at the start.
func TestRunRefusesWhatOnlyAPersonCanMend(t *testing.T) {
	db := idemtest.DB(t)
	r, _ := newRelay(db, &memory{})
	if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no table idem_outbox_orders") {
		t.Error(err)
	}
	idemtest.Exec(t, db, tableSQL)
	idemtest.Exec(t, db, `DROP ROLE IF EXISTS relay_without_rights`)
	idemtest.Exec(t, db, `CREATE ROLE relay_without_rights; GRANT SELECT ON idem_outbox_orders TO relay_without_rights`)
	t.Cleanup(func() {
		_, _ = db.Exec(context.Background(), `DROP OWNED BY relay_without_rights; DROP ROLE relay_without_rights`)
	})
	cfg := db.Config()
	cfg.ConnConfig.RuntimeParams["role"] = "relay_without_rights"
	less, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer less.Close()
	r, _ = newRelay(less, &memory{})
	if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "GRANT SELECT, DELETE ON idem_outbox_orders") {
		t.Error(err)
	}
	for _, r := range []*Relay{New(nil, table, &memory{}), New(db, table, nil)} {
		if err := r.Run(t.Context()); err == nil {
			t.Error("a relay without a database or a producer runs")
		}
	}
}

// A relay whose Run was not called is not healthy, and two calls at once are one too many.
func TestRunRunsOnce(t *testing.T) {
	r, _ := newRelay(database(t), &memory{})
	if err := r.Health(); err == nil || !strings.Contains(err.Error(), "Run was not called") {
		t.Error(err)
	}
	start(t, t.Context(), r)
	eventually(t, "it leads", func() bool { return r.Stats().Leads })
	if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "a second time") {
		t.Error(err)
	}
	if err := r.Health(); err != nil {
		t.Error(err)
	}
}
