package idemtest

import (
	"cmp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service is a service under test.
type Service struct {
	Cases      string  // folder of the cases, and of what idemgen made of them
	Migrations string  // folder of *.sql files, applied in the order of their names
	External   string  // file that makes the tables of others, applied before Migrations; "" for none
	Tables     []Table // of the whole service, in the order of the spec

	// Encodings are by topic what values are packed in before they are delivered. The log has
	// them as they are before.
	Encodings map[string]Packing

	// Stub makes the consumer with handlers that do nothing; nil for a service without handlers.
	Stub func(t testing.TB, db *pgxpool.Pool) (*idem.Consumer, error)
	// New makes the consumer with the service's own handlers, and effects as in [CallsEffect].
	New func(t testing.TB, db *pgxpool.Pool) (*idem.Consumer, error)

	Events map[string]Event // by name, what all records of an event have in common
}

// Suite is what the generated test of a topic fills in. It repeats, crashes, fences and
// poisons the topic's records against a real database, and compares what is left with what
// each event does once, alone.
type Suite struct {
	Service
	Topic    string // of records that do not say theirs
	Rows     string // file with the rows that are there before Log; "" for none
	Log      string // file with the records that idemgen made from the spec
	Expected string // file with the rows that the spec makes of Rows and Log
	// Own says that New is used in place of Stub: the topic's Go code is effects only, and tests
	// say what they return.
	Own bool
	// Edit returns the log for the service's own handlers; nil if there are none.
	Edit func(topic string, log []Event) []Event
}

// Table is a table that is compared.
type Table struct {
	Name    string
	Key     []string // primary key
	Columns []string // those that the spec or a handler fills, not the database
	SQL     string   // how statements name the table, if Name does not do: quoted, with its schema
	// Stored are the names in the database of columns that have another one in the spec.
	Stored map[string]string
	// Sensitive are columns whose values are in no text.
	Sensitive []string
	counted   bool // rows are counted, not compared
}

func (t Table) sql() string { return cmp.Or(t.SQL, pgx.Identifier{t.Name}.Sanitize()) }

// stored is the name of a column in the database.
func (t Table) stored(column string) string { return cmp.Or(t.Stored[column], column) }

// Event is one record of a log. The suite sets partition and offset, and the topic where it is "".
type Event struct {
	Name    string // Go name, of a record that was read; "" if the consumer has none for it
	Message idem.Message
	Keyed   bool     // has an identity of its own, so that a second copy has no effect
	Here    bool     // only within its partition, where all copies come (copies: same_partition)
	Opaque  bool     // nothing in the payload is read, so that it may hold anything
	Loose   []string // members of the payload, as "a.b", that copies need not share
	Naming  []string // members that copies need not share, but whose change may make it another event
	// Effect is the Go name of the event if it has an effect; else "".
	Effect string
	Locked bool // its Go code runs under a lock
	// Result is what the event's effect returns in tests, as JSON; nil without a result.
	Result []byte
	// Failure is the text of the error that it returns instead; "" without one. The call did
	// nothing, or nobody knows what it did.
	Failure     string
	Interrupted bool
	// DeadLetter is the class of the dead letter that the spec makes of it, and the place if that
	// is known, as in "decode items[1].price"; "" if it takes effect.
	DeadLetter string
}

// Run runs every scenario as a subtest: under "spec" with handlers that do nothing, against
// the expected rows, so that it can say what is wrong; under "handlers" with the service's own,
// against each event applied alone, so that it can say what is not once.
func (s Suite) Run(t *testing.T) {
	log, err := readLog(s.Log, s.Events)
	if err != nil {
		t.Fatalf("idemtest: read the log: %v: run idemgen generate", err)
	}
	spec := &runner{Suite: s, log: numbered(s.Topic, log), start: s.New}
	spec.scenarios = ofATopic(spec.log)
	if s.Stub != nil && !s.Own {
		spec.start = s.Stub
	}
	want, err := readExpected(s.Expected)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	want.dead = expectedDeadLetters(log)
	spec.want, spec.source = want, s.Expected
	t.Run("spec", spec.run)
	if s.Edit == nil {
		return
	}
	t.Run("handlers", func(t *testing.T) {
		own := &runner{Suite: s, log: numbered(s.Topic, s.Edit(s.Topic, log)), start: s.New, handlers: true}
		own.scenarios = ofATopic(own.log)
		if len(own.log) > 0 {
			own.want, own.source = own.oneByOne(t, position), "the same log applied one by one"
		}
		if t.Failed() {
			return
		}
		own.run(t)
	})
}

// runner runs all scenarios once.
type runner struct {
	Suite
	start     func(t testing.TB, db *pgxpool.Pool) (*idem.Consumer, error)
	scenarios func() []scenario // asked again after each
	log       []record
	want      *state
	source    string      // where want comes from
	handlers  bool        // with the service's own handlers
	ofCase    bool        // the log is that of a case
	exhausted atomic.Bool // a batch could not be applied in time
	loose     map[column]bool
}

// record is one record of the log with its place in it.
type record struct {
	index   int
	keyed   bool
	here    bool
	opaque  bool
	loose   []string
	naming  []string
	effect  string // name of the event, if it has an effect
	locked  bool   // its Go code runs under a lock
	answer  answer // of the call
	message idem.Message
}

// logStart is the timestamp of the first record of a log; the generator, which computes the
// expected rows, knows it too.
var logStart = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// numbered gives the records their offsets, 0, 1, 2, ... in partition 0 of their topic, and a
// timestamp a second apart unless they have one. Those that do not say their topic are of the one
// that is named.
func numbered(topic string, log []Event) []record {
	out := make([]record, len(log))
	next := map[string]int64{}
	for i, e := range log {
		m := e.Message
		m.Topic = cmp.Or(m.Topic, topic)
		m.Partition, m.Offset, m.LeaderEpoch = 0, next[m.Topic], -1
		next[m.Topic]++
		if m.Time.IsZero() {
			m.Time = logStart.Add(time.Duration(i) * time.Second)
		}
		out[i] = record{i, e.Keyed, e.Here, e.Opaque, e.Loose, e.Naming, e.Effect, e.Locked, answer{e.Result, e.Failure, e.Interrupted, false}, m}
	}
	return out
}

func (c *runner) run(t *testing.T) {
	if len(c.log) == 0 {
		t.Skip("idemtest: the log is empty: no event of this topic takes effect without rows that nothing in the spec makes, and on_failure says stop")
	}
	for i := 0; i < len(c.scenarios()); i++ {
		s := c.scenarios()[i]
		if testing.Short() && !short[s.name] {
			continue
		}
		var b *trial // nil if there is no handler to test
		sound := t.Run(s.name, func(t *testing.T) {
			b = c.newTrial(t)
			s.play(b)
			b.compare(s.suspects)
		})
		if i == 0 && !sound && b == nil {
			return
		}
		if i == 0 && !sound {
			t.Log("idemtest: without duplicates or crashes the rows are wrong already: the other scenarios are left out")
			return
		}
	}
}

// position is where a record of the log is delivered, unless a scenario moves it.
func position(r record) idem.Message { return r.message }
