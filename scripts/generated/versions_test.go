package generated_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/testdata/golden/versions/compare"
	"github.com/idemgen/idemgen/testdata/golden/versions/event"
	"github.com/idemgen/idemgen/testdata/golden/versions/field"
	"github.com/idemgen/idemgen/testdata/golden/versions/first"
	"github.com/idemgen/idemgen/testdata/golden/versions/moved"
)

// version is one generated version of a service. Each has what those before it have.
type version struct {
	name  string
	new   func(*pgxpool.Pool, ...idem.Option) (*idem.Consumer, error)
	notes bool // it has the field note
	outs  bool // it has the events of type out
}

var versions = []version{
	{"first", first.NewConsumer, false, false},
	{"field", field.NewConsumer, true, false},
	{"event", event.NewConsumer, true, true},
	{"compare", compare.NewConsumer, true, true},
}

// versionTopics are the topics of the service, and what the kinds of their entries are called.
var versionTopics = []struct {
	name, in, out string
	anywhere      bool // copies may come through any partition
}{
	{"payments.v1", "paid", "refunded", true},
	{"sales.v1", "sold", "returned", false},
}

// Two versions of a service share its partitions, which move to and fro between them. Each
// round, every partition has new events, each of them twice, and copies of all events that
// either version applied before. Nobody halts, and every event takes effect once, as in the
// version that read it first.
func TestVersionsOfAServiceMayShareAGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	db := newDatabase(t)
	for i, older := range versions {
		for _, newer := range versions[i+1:] {
			for _, pair := range [][2]version{{older, newer}, {newer, older}} {
				t.Run(pair[0].name+" then "+pair[1].name, func(t *testing.T) { alternate(t, db, pair) })
			}
		}
	}
}

func alternate(t *testing.T, db *pgxpool.Pool, pair [2]version) {
	hasVersions(t, db)
	members := [2]*idem.Consumer{consumerOf(t, db, pair[0]), consumerOf(t, db, pair[1])}
	var rows []string
	for _, topic := range versionTopics {
		logs := map[int32]*versionLog{0: {topic: topic.name}, 1: {topic: topic.name, partition: 1}}
		var sent []entry
		for round := range 4 {
			for p := range int32(2) {
				n := (round + int(p)) % 2
				batch := newEntries(pair[n], topic.name, p, round)
				var copies []entry
				for _, e := range sent {
					if (topic.anywhere || e.partition == p) && (pair[n].outs || !e.out) {
						copies = append(copies, e)
					}
				}
				w, err := idemtest.Own(t, members[n], topic.name, p, 0)
				if err != nil {
					t.Fatalf("round %d, partition %d, %s: %v", round, p, pair[n].name, err)
				}
				got, err := w.Apply(t.Context(), logs[p].messages(slices.Concat(copies, batch, batch)))
				if err != nil {
					t.Fatalf("round %d, partition %d, %s: %v", round, p, pair[n].name, err)
				}
				if want := (idem.Result{Applied: int64(len(batch)), Duplicates: int64(len(batch) + len(copies))}); got != want {
					t.Errorf("round %d, partition %d, %s: %+v, want %+v", round, p, pair[n].name, got, want)
				}
				for _, e := range batch {
					rows = append(rows, e.row(pair[n], topic.in, topic.out))
				}
				sent = append(sent, batch...)
			}
		}
	}
	wantEntries(t, db, rows)
}

// A version that looks for its events under another source ends the older versions on the
// partitions that it has written, and on no other.
func TestVersionsHaltWhereASourceMoved(t *testing.T) {
	newer := version{"moved", moved.NewConsumer, true, true}
	db := newDatabase(t)
	for _, older := range versions {
		t.Run(older.name, func(t *testing.T) {
			hasVersions(t, db)
			old, now := consumerOf(t, db, older), consumerOf(t, db, newer)
			for _, topic := range versionTopics {
				logs := [2]*versionLog{{topic: topic.name}, {topic: topic.name, partition: 1}}
				for p, log := range logs {
					ownAndApply(t, old, log, newEntries(older, topic.name, int32(p), 0))
				}
				ownAndApply(t, now, logs[0], newEntries(newer, topic.name, 0, 1))
				_, err := idemtest.Own(t, old, topic.name, 0, 0)
				var halted *idem.HaltedError
				if !errors.As(err, &halted) || halted.Code != halt.NewerVersion {
					t.Errorf("%s: %v, want a halt for %s", topic.name, err, halt.NewerVersion)
				}
				ownAndApply(t, old, logs[1], newEntries(older, topic.name, 1, 1))
			}
		})
	}
}

// entry is one event. A producer may send copies of it: all are alike.
type entry struct {
	id        string
	partition int32
	amount    int
	note, out bool
}

// newEntries are the next new events of a partition: all that a version knows, since producers
// begin with an event when its readers are there.
func newEntries(v version, topic string, p int32, round int) (all []entry) {
	for n := range 4 {
		id := fmt.Sprintf("%s-%d-%d-%d", topic, p, round, n)
		all = append(all, entry{id: id, partition: p, amount: 10*round + n, note: n%2 == 0, out: v.outs && n == 3})
	}
	return all
}

// row is what an entry leaves when a version applied it.
func (e entry) row(v version, in, out string) string {
	kind, note := in, ""
	if e.out {
		kind = out
	} else if e.note && v.notes {
		note = "note " + e.id
	}
	return fmt.Sprintf("%s %s %d %s", e.id, kind, e.amount, note)
}

func (e entry) message(topic string) idem.Message {
	typ, note := "in", ""
	if e.out {
		typ = "out"
	}
	if e.note {
		note = fmt.Sprintf(`,"note":"note %s"`, e.id)
	}
	m := idem.Message{
		Topic: topic, Partition: e.partition, LeaderEpoch: -1, Key: []byte("shop"),
		Value:   fmt.Appendf(nil, `{"entry":%q,"amount":%d%s}`, e.id, e.amount, note),
		Headers: []idem.Header{{Name: "type", Value: []byte(typ)}},
	}
	for _, name := range []string{"request", "number"} {
		m.Headers = append(m.Headers, idem.Header{Name: name, Value: []byte(name + " of " + e.id)})
	}
	return m
}

// versionLog is one partition's log.
type versionLog struct {
	topic     string
	partition int32
	next      int64
}

// messages appends events to the log, also copies of those of another partition.
func (l *versionLog) messages(entries []entry) (all []idem.Message) {
	for _, e := range entries {
		m := e.message(l.topic)
		m.Partition, m.Offset = l.partition, l.next
		all = append(all, m)
		l.next++
	}
	return all
}

func ownAndApply(t *testing.T, c *idem.Consumer, log *versionLog, entries []entry) {
	t.Helper()
	w, err := idemtest.Own(t, c, log.topic, log.partition, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Apply(t.Context(), log.messages(entries))
	if err != nil || int(got.Applied) != len(entries) {
		t.Fatal(got, err)
	}
}

// hasVersions leaves the tables of the last version in a database: migrations run before any
// service does.
func hasVersions(t *testing.T, db *pgxpool.Pool) {
	t.Helper()
	emptied(t, db)
	idemtest.Migrate(t, db, "../../testdata/golden/versions/migrations")
}

func consumerOf(t *testing.T, db *pgxpool.Pool, v version) *idem.Consumer {
	t.Helper()
	c, err := v.new(db, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantEntries compares the rows and the dead letters, which must be none.
func wantEntries(t *testing.T, db *pgxpool.Pool, want []string) {
	t.Helper()
	got, letters := entriesOf(t, db)
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%d rows:\n%s\nwant %d:\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
	if len(letters) > 0 {
		t.Errorf("dead letters: %v", letters)
	}
}

// entriesOf are the rows of the service, and how many dead letters there are for each reason.
func entriesOf(t *testing.T, db *pgxpool.Pool) (rows []string, letters map[string]int) {
	t.Helper()
	err := db.QueryRow(t.Context(), `SELECT coalesce(array_agg(concat_ws(' ', entry, kind, amount, coalesce(note, ''))), '{}') FROM entries`).Scan(&rows)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	if err := db.QueryRow(t.Context(), `SELECT coalesce(array_agg(reason), '{}') FROM idem_dead_letter`).Scan(&reasons); err != nil {
		t.Fatal(err)
	}
	letters = map[string]int{}
	for _, r := range reasons {
		letters[r]++
	}
	return rows, letters
}
