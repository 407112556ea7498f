package idemtest

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof"
	"github.com/idemgen/idemgen/runtime/idem"
)

// Service is a service under test, as its generated tests describe it.
type Service struct {
	Spec   string // file
	Digest string // of the spec and its schemas, from which the code was generated

	// Stub makes the consumer with handlers that do nothing; nil for a service without handlers.
	Stub func(t testing.TB, db *pgxpool.Pool) (*idem.Consumer, error)
	// New makes the consumer with the service's own handlers, and effects as in [CallsEffect].
	New func(t testing.TB, db *pgxpool.Pool) (*idem.Consumer, error)
	// Edit returns the log of a topic for the service's own handlers; nil if there are none.
	Edit func(topic string, log []Event) []Event

	// Migrations is the folder of *.sql files that are applied in the order of their names; "" means
	// that of the spec.
	Migrations string
	// External is the file that makes the tables of others, applied before Migrations; "" means the
	// one that idemgen generated, if there is one.
	External string
}

// comparedTable is a table that is compared.
type comparedTable struct {
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

func (t comparedTable) sql() string { return cmp.Or(t.SQL, pgx.Identifier{t.Name}.Sanitize()) }

// stored is the name of a column in the database.
func (t comparedTable) stored(column string) string { return cmp.Or(t.Stored[column], column) }

// Event is one record of a log. Its partition and offset are set when the log is played, and its
// topic where that is "".
type Event struct {
	Name    string // Go name, of a record that was read; "" if the consumer has none for it
	Message idem.Message
	Keyed   bool // has an identity of its own, so that a second copy has no effect
	// Result is what the event's effect returns in tests, as JSON; nil without a result.
	Result []byte
	// Failure is the text of the error that it returns instead; "" without one. The call did
	// nothing, or nobody knows what it did.
	Failure     string
	Interrupted bool
	// DeadLetter is the class of the dead letter that the spec makes of it, and the place if that
	// is known, as in "decode items[1].price"; "" if it takes effect.
	DeadLetter string

	copies proof.Copies
	effect string // Go name of the event if it has an effect; else ""
	locked bool   // its Go code runs under a lock
}

// RunTopic plays the records of a topic, an entry of the spec, against a real database. It
// repeats, crashes, fences and poisons them, and compares what is left with what each event does
// once, alone. Every scenario is a subtest: under "spec" with handlers that do nothing, against
// the rows that the spec makes, so that it can say what is wrong; under "handlers" with the
// service's own, against each event applied alone, so that it can say what is not once.
//
// With go test -v it prints the records, and the rows that they must leave. If $IDEMTEST_SEED is a
// number, it plays some of the records, in an order that depends on the number.
func (s Service) RunTopic(t *testing.T, topic string) {
	spec, err := proof.Read(s.Spec, s.Digest)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	entry, err := spec.Entry(topic)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	names := proof.Tested(entry)
	if len(names) == 1 {
		s.runTopic(t, spec, entry, names[0])
		return
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { s.runTopic(t, spec, entry, name) })
	}
}

func (s Service) runTopic(t *testing.T, spec *proof.Service, entry *model.Topic, topic string) {
	script := spec.Topic(entry)
	if seed := os.Getenv("IDEMTEST_SEED"); seed != "" {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			t.Fatalf("idemtest: IDEMTEST_SEED: %v", err)
		}
		script = spec.Shuffled(entry, n)
	}
	log := events(spec, script)
	one, err := s.runner(spec, script)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	one.log, one.source = numbered(topic, log), s.Spec
	one.scenarios = ofATopic(one.log)
	one.start = s.starter(entry)
	if testing.Verbose() {
		t.Logf("the records, and the rows that they must leave:\n%s", one.shownScript(script))
	}
	t.Run("spec", one.run)
	if !handled(entry) {
		return
	}
	t.Run("handlers", func(t *testing.T) {
		own, err := s.runner(spec, script)
		if err != nil {
			t.Fatalf("idemtest: %v", err)
		}
		own.log, own.handlers = numbered(topic, s.Edit(topic, log)), true
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

// handled reports whether events of a topic have a handler in the transaction.
func handled(entry *model.Topic) bool {
	return slices.ContainsFunc(entry.Events, func(e *model.Event) bool { return e.Handle })
}

// starter makes the consumer of the scenarios under "spec". A topic whose Go code is effects only
// has no others, so they need the service's own handlers: one that is not written fails.
func (s Service) starter(entry *model.Topic) func(testing.TB, *pgxpool.Pool) (*idem.Consumer, error) {
	if s.Stub != nil && (handled(entry) || !slices.ContainsFunc(entry.Events, (*model.Event).HasCode)) {
		return s.Stub
	}
	return s.New
}

// runner runs all scenarios once.
type runner struct {
	Service
	tables    []comparedTable         // of the whole service, in the order of the spec
	packed    map[string]*model.Topic // those whose values are packed in anything, by topic
	given     string                  // SQL: what is there before the log
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
	copies  proof.Copies
	effect  string // name of the event, if it has an effect
	locked  bool   // its Go code runs under a lock
	answer  answer // of the call
	message idem.Message
}

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
			m.Time = proof.Start.Add(time.Duration(i) * time.Second)
		}
		out[i] = record{i, e.Keyed, e.copies, e.effect, e.locked, answer{e.Result, e.Failure, e.Interrupted, false}, m}
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
