package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// log is a broker: what it has acknowledged, in order.
type log struct {
	mu      sync.Mutex
	records []outbox.Record
	answer  func(outbox.Record) error // nil takes it
	stuck   []func(error)             // of records that nobody answered
}

var errStuck = errors.New("stuck")

func (l *log) Produce(r outbox.Record, done func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.answer != nil {
		err = l.answer(r)
	}
	switch {
	case errors.Is(err, errStuck):
		l.stuck = append(l.stuck, done)
		return
	case err == nil:
		l.records = append(l.records, r)
	}
	go done(err)
}

func (l *log) Purge() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, done := range l.stuck {
		go done(errors.New("purged"))
	}
	l.stuck = nil
}

func (l *log) answers(how func(outbox.Record) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer = how
}

// of are the values of the records with a key; of "" all.
func (l *log) of(key string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, r := range l.records {
		if key == "" || string(r.Key) == key {
			all = append(all, string(r.Value))
		}
	}
	return strings.Join(all, " ")
}

// relay runs a relay until the test ends, or stop is called.
func relay(t testing.TB, db *pgxpool.Pool, to outbox.Producer, edit func(*outbox.Runner)) (r *outbox.Runner, stop func()) {
	t.Helper()
	r = outbox.NewRunner(&outbox.Relay{DB: db, Producer: to, Logger: slog.New(slog.DiscardHandler)})
	if edit != nil {
		edit(r)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if health := r.Health(); err != nil || health != nil {
				t.Errorf("the relay ended: %v, and Health says %v", err, health)
			}
		case <-time.After(time.Minute):
			t.Error("the relay does not end")
		}
	})
	t.Cleanup(stop)
	return r, stop
}

// until waits for a condition.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never was so that %s", what)
		}
	}
}

func write(t testing.TB, tx outbox.Tx, key string, values ...string) {
	t.Helper()
	for _, v := range values {
		e := outbox.Event{AggregateType: "user", AggregateID: key, Type: "Seen", Payload: outbox.Bytes([]byte(v))}
		if err := outbox.Write(t.Context(), tx, e); err != nil {
			t.Fatal(err)
		}
	}
}

func left(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return query(t, db, `SELECT count(*)::text FROM idem_outbox`)
}

// A record has the event's key, value and headers, and its row goes when the broker has it.
func TestRelaySends(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	idemtest.Exec(t, db, `ALTER TABLE idem_outbox ADD COLUMN tenant text`)
	relay(t, db, to, nil)
	err := outbox.Write(t.Context(), db,
		outbox.Event{ID: [16]byte{15: 1}, AggregateType: "user", AggregateID: "7", Type: "Renamed", Payload: outbox.JSON("ann"), Headers: map[string]string{"tenant": "t1"}},
		outbox.Event{ID: [16]byte{15: 2}, AggregateType: "user", AggregateID: "7", Type: "Seen", Payload: outbox.Bytes(nil)},
		outbox.Event{ID: [16]byte{15: 3}, AggregateType: "user", AggregateID: "7", Type: "Deleted", Headers: map[string]string{"traceparent": "00-1"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "all events are sent", func() bool { return left(t, db) == "0" })
	to.mu.Lock()
	defer to.mu.Unlock()
	var got []string
	for _, r := range to.records {
		line := fmt.Sprintf("%s %s %q %t", r.Topic, r.Key, r.Value, r.Value == nil)
		for _, h := range r.Headers {
			line += fmt.Sprintf(" %s=%s", h.Name, h.Value)
		}
		got = append(got, line)
	}
	want := `outbox.event.user 7 "\"ann\"" false id=00000000-0000-0000-0000-000000000001 type=Renamed tenant=t1
outbox.event.user 7 "" false id=00000000-0000-0000-0000-000000000002 type=Seen
outbox.event.user 7 "" true id=00000000-0000-0000-0000-000000000003 type=Deleted traceparent=00-1`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// An event whose transaction commits late, after others with a greater number, is sent.
func TestRelaySendsWhatCommitsLate(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	relay(t, db, to, nil)
	late, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, late, "late", "a", "b")
	write(t, db, "early", "1", "2")
	until(t, "the early ones are sent", func() bool { return to.of("early") == "1 2" && left(t, db) == "0" })
	write(t, late, "late", "c")
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the late ones are sent", func() bool { return to.of("late") == "a b c" })
}

// An event that the broker refuses holds back its aggregate, in its order, and no other. Health
// names it. It goes once the broker takes it.
func TestRefusedEventHoldsBackItsAggregate(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	var large tries
	to.answers(func(r outbox.Record) error {
		if string(r.Value) == "large" {
			large.add()
			return &outbox.RefusedError{Err: errors.New("too large")}
		}
		return nil
	})
	var logged *bytes.Buffer
	r, stop := relay(t, db, to, func(r *outbox.Runner) { logged = lines(r.Relay) })
	write(t, db, "7", "1", "large", "3")
	write(t, db, "8", "a", "b")
	until(t, "the other aggregate is sent", func() bool { return to.of("8") == "a b" })
	until(t, "Health says it", func() bool { return r.Health() != nil })
	write(t, db, "8", "c")
	write(t, db, "7", "4")
	until(t, "it goes on", func() bool { return to.of("8") == "a b c" })
	if got := to.of("7"); got != "1" {
		t.Errorf("sent of the aggregate that is held back: %s", got)
	}
	err := r.Health()
	for _, want := range []string{"1 aggregate is held back", `of type "Seen", aggregate "user" "7", to topic "outbox.event.user": refused: too large`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Health: %v, want %q", err, want)
		}
	}
	large.checkPauses(t)
	to.answers(nil)
	until(t, "all is sent, and Health is good", func() bool { return to.of("7") == "1 large 3 4" && r.Health() == nil })
	stop()
	for _, once := range []string{"an event cannot be sent, and holds back its aggregate", "aggregates are no longer held back"} {
		if n := strings.Count(logged.String(), once); n != 1 {
			t.Errorf("%q is logged %d times", once, n)
		}
	}
}

// Events that were refused together, such as a batch that is too large, are tried alone. The log
// names none that is taken then.
func TestRefusedEventsAreTriedAlone(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &together{}
	var logged *bytes.Buffer
	r, stop := relay(t, db, to, func(r *outbox.Runner) { logged = lines(r.Relay) })
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		write(t, tx, fmt.Sprint(n), "1", "2")
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "all is sent, and Health is good", func() bool { return left(t, db) == "0" && r.Health() == nil })
	if to.refused == 0 {
		t.Error("nothing was refused")
	}
	stop()
	if strings.Contains(logged.String(), "refused") {
		t.Errorf("the log has\n%s", logged)
	}
}

// together refuses records that are on their way together.
type together struct {
	mu      sync.Mutex
	batch   []func(error)
	refused int
}

func (b *together) Produce(_ outbox.Record, done func(error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.batch = append(b.batch, done); len(b.batch) == 1 {
		time.AfterFunc(5*time.Millisecond, b.answer)
	}
}

func (b *together) answer() {
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	if len(b.batch) > 1 {
		err = &outbox.RefusedError{Err: errors.New("the batch is too large")}
		b.refused++
	}
	for _, done := range b.batch {
		done(err)
	}
	b.batch = nil
}

func (b *together) Purge() {}

// While the broker is away nothing is lost nor overtaken, the relay asks it rarely, and writers go
// on.
func TestBrokerThatIsAway(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	asked := 0
	to.answers(func(outbox.Record) error { asked++; return errors.New("no broker") })
	r, _ := relay(t, db, to, func(r *outbox.Runner) { r.MaxWaiting = 3 })
	write(t, db, "7", "1", "2")
	until(t, "Health says it", func() bool { return r.Health() != nil })
	write(t, db, "7", "3", "4")
	until(t, "Health counts", func() bool {
		return strings.Contains(fmt.Sprint(r.Health()), "the broker has accepted no events since ") && strings.Contains(r.Health().Error(), "more than 3 events wait")
	})
	to.mu.Lock()
	if asked > 8 {
		t.Errorf("the broker was asked %d times", asked)
	}
	to.mu.Unlock()
	to.answers(nil)
	until(t, "all is sent, and Health is good", func() bool { return to.of("") == "1 2 3 4" && r.Health() == nil && left(t, db) == "0" })
}

// One of several relays leads. When its session ends, another one takes over, and sends again what
// was on its way.
func TestRelaysTakeOver(t *testing.T) {
	t.Parallel()
	db, first, second := table(t, outbox.ByRelay), &log{}, &log{}
	first.answers(func(r outbox.Record) error {
		if string(r.Value) == "2" {
			return errStuck
		}
		return nil
	})
	_, stop := relay(t, db, first, nil)
	write(t, db, "7", "1", "2", "3")
	until(t, "one is stuck", func() bool { first.mu.Lock(); defer first.mu.Unlock(); return len(first.stuck) == 1 })
	r, _ := relay(t, db, second, nil)
	until(t, "the second has asked for the lead, and counts", func() bool { return r.Stats().Waiting > 0 })
	if got := second.of(""); got != "" || r.Stats().Leading {
		t.Errorf("two relays lead: %s", got)
	}
	idemtest.Exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	first.answers(func(outbox.Record) error { return errStuck })
	until(t, "the first gives up what is on its way", func() bool { first.mu.Lock(); defer first.mu.Unlock(); return len(first.stuck) == 0 })
	until(t, "either sends what was stuck", func() bool { return strings.HasSuffix(second.of(""), "2 3") && left(t, db) == "0" })
	stop()
	if got := first.of("") + " " + second.of(""); got != "1 2 3" && got != "1 1 2 3" {
		t.Errorf("sent: %s", got)
	}
}

// A relay that is stopped waits for what is on its way, and leaves the rest to the next one.
func TestStoppedRelayLosesNothing(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	reached := make(chan struct{})
	to.answers(func(r outbox.Record) error {
		if string(r.Value) == "2" {
			close(reached)
			return errStuck
		}
		return nil
	})
	_, stop := relay(t, db, to, nil)
	write(t, db, "7", "1", "2", "3")
	<-reached
	time.AfterFunc(20*time.Millisecond, func() {
		to.mu.Lock()
		defer to.mu.Unlock()
		for _, done := range to.stuck {
			done(nil)
		}
		to.stuck = nil
	})
	stop()
	if got := query(t, db, `SELECT string_agg(encode(payload, 'escape'), ' ') FROM idem_outbox`); got != "3" {
		t.Errorf("left: %s", got)
	}
}

// Many writers, whose transactions commit in any order: each event is sent, those of an aggregate
// in the order of their commits.
func TestRelayKeepsTheOrderOfEachAggregate(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	idemtest.Exec(t, db, `CREATE TABLE users (id text PRIMARY KEY, n int NOT NULL)`)
	relay(t, db, to, nil)
	const users, each = 20, 15
	var writers sync.WaitGroup
	for u := range users {
		for range 2 {
			writers.Go(func() {
				for range each {
					err := pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error {
						var n int
						err := tx.QueryRow(t.Context(), `INSERT INTO users VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET n = users.n + 1 RETURNING n`, fmt.Sprint(u)).Scan(&n)
						return errors.Join(err, outbox.Write(t.Context(), tx, outbox.Event{
							AggregateType: "user", AggregateID: fmt.Sprint(u), Type: "Counted", Payload: outbox.Bytes([]byte(fmt.Sprint(n))),
						}))
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	writers.Wait()
	until(t, "all is sent", func() bool { return left(t, db) == "0" })
	var want []string
	for n := range 2 * each {
		want = append(want, fmt.Sprint(n+1))
	}
	for u := range users {
		if got := to.of(fmt.Sprint(u)); got != strings.Join(want, " ") {
			t.Errorf("user %d: %s", u, got)
		}
	}
}
