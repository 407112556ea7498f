package split

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/split/first"
	"github.com/idemgen/idemgen/examples/split/second"
	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// half is one of the services, with its database.
type half struct {
	db       *pgxpool.Pool
	consumer func(*pgxpool.Pool, ...idem.Option) (*idem.Consumer, error)
	stop     func()
}

// start starts a process of the service.
func (h *half) start(t *testing.T, brokers string) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	c, err := h.consumer(h.db, idem.WithLogger(quiet))
	if err != nil {
		t.Fatal(err)
	}
	h.stop = running(t, func(ctx context.Context) error { return c.Run(ctx, &franz.Source{Brokers: brokers, Logger: quiet}) })
}

// running runs something until stop is called, or the test ends.
func running(t *testing.T, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = func() {
		if cancel(); ended == nil {
			return
		}
		if err := <-ended; err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		ended = nil
	}
	t.Cleanup(stop)
	return stop
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// text is the result of a query.
func (h *half) text(t *testing.T, sql string) (text string) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), sql).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// rows are the accounts of the database; offsets, how many records of the topic are applied.
const (
	rows    = `SELECT coalesce(string_agg(format('%s has %s of %s', account_id, cents, bookings), ', ' ORDER BY account_id COLLATE "C"), '') FROM accounts`
	offsets = `SELECT coalesce(sum(next), 0)::text FROM (SELECT DISTINCT ON (stream) next FROM idem_ledger ORDER BY stream, seq DESC) l`
)

// sum adds offsets of a topic's partitions.
func sum(offsets []int64) (all int64) {
	for _, n := range offsets {
		all += n
	}
	return all
}

// A topic is divided between two databases: the producer resends events, the job that divides the
// topic loses its position, and both services are restarted. Each booking is in the database of
// its account, once.
func TestTopicOfTwoDatabases(t *testing.T) {
	const partitions, accounts, bookings = 3, 40, 300
	broker := idemtest.Kafka(t, map[string]int32{Whole: partitions, Topics[0]: partitions, Topics[1]: partitions})
	halves := []*half{
		{db: idemtest.Migrated(t, "first/migrations"), consumer: first.NewConsumer},
		{db: idemtest.Migrated(t, "second/migrations"), consumer: second.NewConsumer},
	}
	for _, h := range halves {
		h.start(t, broker.Addr())
	}
	forward := func(ctx context.Context) error { return Forward(ctx, broker.Addr()) }
	stop := running(t, forward)

	r := rand.New(rand.NewPCG(5, 8))
	var sent []*idem.Message
	type booked struct{ cents, bookings int64 }
	want := map[string]booked{}
	produce := func() {
		t.Helper()
		var records []*idem.Message
		for range bookings {
			number, cents := r.IntN(accounts), r.Int64N(1000)
			account := fmt.Sprintf("account-%d", number)
			want[account] = booked{want[account].cents + cents, want[account].bookings + 1}
			sent = append(sent, &idem.Message{Topic: Whole, Partition: int32(number % partitions), Key: []byte(account),
				Headers: []idem.Header{{Name: "Idempotency-Key", Value: fmt.Append(nil, len(sent))}}, Value: fmt.Appendf(nil, `{"cents": %d}`, cents)})
			records = append(records, sent[len(sent)-1])
			if r.IntN(5) == 0 {
				again := *sent[r.IntN(len(sent))]
				records = append(records, &again)
			}
		}
		if err := broker.Produce(t.Context(), records...); err != nil {
			t.Fatal(err)
		}
	}

	produce()
	for _, h := range halves {
		until(t, "a service applies the first records", func() bool { return h.text(t, rows) != "" })
	}
	stop()
	if err := broker.Commit(t.Context(), Job, Whole, make([]int64, partitions)); err != nil {
		t.Fatal(err)
	}
	halves[0].stop()
	produce()
	running(t, forward)
	halves[0].start(t, broker.Addr())
	halves[1].stop()
	halves[1].start(t, broker.Addr())
	produce()

	until(t, "all records are forwarded", func() bool { return sum(broker.Committed(Job, Whole)) == sum(broker.Ends(Whole)) })
	for i, h := range halves {
		end := sum(broker.Ends(Topics[i]))
		until(t, "all records are applied", func() bool { return h.text(t, offsets) == fmt.Sprint(end) })
		var all []string
		events := int64(0)
		for _, account := range slices.Sorted(maps.Keys(want)) {
			if TopicOf([]byte(account)) == Topics[i] {
				all = append(all, fmt.Sprintf("%s has %d of %d", account, want[account].cents, want[account].bookings))
				events += want[account].bookings
			}
		}
		if got := h.text(t, rows); got != strings.Join(all, ", ") {
			t.Errorf("database %d: got  %s\nwant %s", i+1, got, strings.Join(all, ", "))
		}
		if dead := h.text(t, `SELECT count(*)::text FROM idem_dead_letter`); dead != "0" || end <= events {
			t.Errorf("database %d: %s dead letters, %d records of %d events", i+1, dead, end, events)
		}
		t.Logf("database %d: %d records of %d events", i+1, end, events)
	}
}

// The specs differ by names only, so one is made of the other.
func TestSpecsAreOne(t *testing.T) {
	var specs [2]string
	for i, dir := range []string{"first", "second"} {
		text, err := os.ReadFile(dir + "/idemgen.yaml")
		if err != nil {
			t.Fatal(err)
		}
		specs[i] = string(text)
	}
	names := strings.NewReplacer("account-keeper-1", "account-keeper-2", Topics[0], Topics[1], "package: first", "package: second")
	if want := names.Replace(specs[0]); specs[1] != want {
		t.Errorf("second/idemgen.yaml is\n%s\nwant\n%s", specs[1], want)
	}
}
