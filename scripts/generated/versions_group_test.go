//go:build cgo

package generated_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// member is a version of the service that reads as a member of its consumer group.
type member struct {
	is   version
	c    *idem.Consumer
	stop func()
}

func join(t *testing.T, broker *idemtest.Broker, db *pgxpool.Pool, v version) *member {
	t.Helper()
	c, err := v.new(db, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- c.Run(ctx, &confluent.Source{Brokers: broker.Addr(), Logger: slog.New(slog.DiscardHandler), Config: kafka.ConfigMap{
			"session.timeout.ms": 6000, "heartbeat.interval.ms": 200,
		}})
	}()
	m := &member{is: v, c: c}
	m.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
	})
	t.Cleanup(m.stop)
	return m
}

// ready are how many partitions the member works on.
func (m *member) ready() (n int) {
	for _, p := range m.c.Stats().Partitions {
		if p.State == "READY" || p.State == "SENT" {
			n++
		}
	}
	return n
}

// within waits until cond holds.
func within(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// Two versions are members of one group with the real client. The later one has an added field,
// an added event, another compare and a source that moved. One begins, the other
// joins, one leaves and comes back. All along, producers send new events and copies of all
// earlier ones, also through the other partition.
func TestVersionsInOneConsumerGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	oldest, latest := versions[0], versions[len(versions)-1]
	for _, pair := range [][2]version{{oldest, latest}, {latest, oldest}} {
		t.Run(pair[0].name+" first", func(t *testing.T) {
			t.Parallel() // mostly it waits for the group
			rollOut(t, pair[0], pair[1])
		})
	}
}

func rollOut(t *testing.T, begins, joins version) {
	db := newDatabase(t)
	hasVersions(t, db)
	broker := idemtest.Kafka(t, map[string]int32{"payments.v1": 2, "sales.v1": 2})
	g := group{t: t, db: db, broker: broker}
	one := join(t, broker, db, begins)
	within(t, "the first member owns all", func() bool { return one.ready() == 4 })
	g.round(one)
	two := join(t, broker, db, joins)
	within(t, "both members own some", func() bool { return one.ready() == 2 && two.ready() == 2 })
	g.round(one, two)
	one.stop()
	within(t, "the second member owns all", func() bool { return two.ready() == 4 })
	g.round(two)
	one = join(t, broker, db, begins)
	within(t, "both members own some again", func() bool { return one.ready() == 2 && two.ready() == 2 })
	g.round(one, two)
	two.stop()
	within(t, "the first member owns all again", func() bool { return one.ready() == 4 })
	g.round(one)
}

// group is what was sent to a group, and what of it must be applied.
type group struct {
	t      *testing.T
	db     *pgxpool.Pool
	broker *idemtest.Broker
	rounds int
	sent   map[string][]entry
	rows   []string // without the note, which only one of the versions stores
}

// round sends new events and copies of all, waits until both logs are read, and compares.
func (g *group) round(members ...*member) {
	g.t.Helper()
	if g.sent == nil {
		g.sent = map[string][]entry{}
	}
	var messages []*idem.Message
	for _, topic := range versionTopics {
		for p := range int32(2) {
			// Events of type out come when every version that reads them is there: not here.
			batch := newEntries(versions[0], topic.name, p, g.rounds)
			for _, e := range batch {
				g.rows = append(g.rows, strings.TrimSpace(e.row(versions[0], topic.in, topic.out)))
			}
			g.sent[topic.name] = append(g.sent[topic.name], batch...)
		}
		for p := range int32(2) {
			for _, e := range g.sent[topic.name] {
				if topic.anywhere || e.partition == p {
					m := e.message(topic.name)
					m.Partition = p
					messages = append(messages, &m)
				}
			}
		}
	}
	g.rounds++
	if err := g.broker.Produce(g.t.Context(), messages...); err != nil {
		g.t.Fatal(err)
	}
	within(g.t, "all was read", func() bool {
		read := int64(0)
		for _, m := range members {
			for _, p := range m.c.Stats().Partitions {
				if p.Position == g.broker.Ends(p.Partition.Topic)[p.Partition.Number] {
					read++
				}
			}
		}
		return read == 4
	})
	for _, m := range members {
		if err := m.c.Health().Err(); err != nil {
			g.t.Errorf("%s: %v", m.is.name, err)
		}
	}
	var rows []string
	got, letters := entriesOf(g.t, g.db)
	for _, row := range got {
		row, _, _ = strings.Cut(row, " note ")
		rows = append(rows, strings.TrimSpace(row))
	}
	slices.Sort(rows)
	slices.Sort(g.rows)
	if !slices.Equal(rows, g.rows) || len(letters) > 0 {
		g.t.Fatalf("round %d: %d rows %v\nwant %d %v\ndead letters %v", g.rounds, len(rows), rows, len(g.rows), g.rows, letters)
	}
}
