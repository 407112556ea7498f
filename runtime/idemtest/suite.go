package idemtest

import (
	"cmp"
	"maps"
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

	// Stub returns the consumer with handlers that do nothing; nil for a service without handlers.
	Stub func(t testing.TB, db *pgxpool.Pool) (*idem.Consumer, error)
	// New returns the consumer with the service's own handlers, and with effects as in
	// [CallsEffect].
	New func(t testing.TB, db *pgxpool.Pool) (*idem.Consumer, error)
	// Edit returns the log of a topic for the service's own handlers; nil if there are none.
	Edit func(topic string, log []Event) []Event

	// Migrations is the folder of the *.sql files, which are applied in the order of their names;
	// "" means the folder that the spec names.
	Migrations string
	// External is the file that creates tables owned by others, applied before Migrations; ""
	// means the file that idemgen generated, if there is one.
	External string
}

// comparedTable is a table whose rows are compared.
type comparedTable struct {
	Name    string
	Key     []string // primary key
	Columns []string // those that the spec or a handler fills, not the database
	SQL     string   // how statements name the table, if not by Name: quoted, with its schema
	// Stored maps columns to their names in the database, if those differ.
	Stored map[string]string
	// Sensitive are columns whose values are never printed.
	Sensitive []string
	counted   bool // rows are counted, not compared
}

func (t comparedTable) sql() string { return cmp.Or(t.SQL, pgx.Identifier{t.Name}.Sanitize()) }

// stored is the name of a column in the database.
func (t comparedTable) stored(column string) string { return cmp.Or(t.Stored[column], column) }

// Event is one record of a log. Its partition and offset are set when the log is played, and also
// its topic if that is "".
type Event struct {
	Name    string // Go name, of a record that was read; "" if the consumer has none for it
	Message idem.Message
	Keyed   bool // has an idempotency key, so duplicates have no effect
	// Result is the result of the event's effect in tests, as JSON; nil if it has none.
	Result []byte
	// Failure is the text of the error that the effect returns instead; "" if it succeeds. If
	// Interrupted is true, the outcome of the call is unknown; otherwise it did nothing.
	Failure     string
	Interrupted bool
	// DeadLetter is the class of the dead letter that the event becomes, followed by the path if
	// that is known, as in "decode items[1].price"; "" if the event takes effect.
	DeadLetter string

	copies  proof.Copies
	handled string // Go name of the event if it has a handler; else ""
	effect  string // the same if it has an effect
	locked  bool   // its Go code runs under a lock
}

// RunTopic applies the records of a topic of the spec to a real database, with duplicates,
// crashes, fenced owners and invalid records. The rows must be the same as if each event was
// applied once, alone. Every scenario is a subtest. Those under "spec" use handlers that do
// nothing, and compare the tables with the rows that the spec implies. Those under "handlers" use
// the service's own handlers, and compare the tables with the result of applying each event alone.
// They fail for a handler that changes no row, unless [ChangesNoRow] names its event, and for one
// that writes outside its transaction.
//
// With go test -v, RunTopic prints the records and the expected rows. If $IDEMTEST_SEED is a
// number, it applies some of the records, in an order that depends on the number.
func (s Service) RunTopic(t *testing.T, topic string) {
	spec, err := proof.Read(s.Spec, s.Digest)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	entry, err := spec.Entry(topic)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(changesNoRow)) {
		if err := spec.Handled(name); err != nil {
			t.Errorf("idemtest: ChangesNoRow: %v", err)
		}
	}
	files, _ := s.cases()
	for _, file := range files {
		if script, err := readCase(spec, file); err == nil { // else TestCases says what is wrong
			spec.Given(script.Given)
		}
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
	seed := os.Getenv("IDEMTEST_SEED")
	if seed != "" {
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
	one.scenarios, one.buries = ofATopic(one.log), buries(entry)
	one.start = s.starter(entry)
	if testing.Verbose() {
		t.Logf("the records and the expected rows:\n%s", one.shownScript(script))
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
		own.log, own.handlers, own.buries = numbered(topic, s.Edit(topic, log)), true, one.buries
		first := []scenario{untilCommit}
		if seed == "" { // else any record may be missing
			first = append(first, s.changesRows(spec, entry))
		}
		own.scenarios = ofATopic(own.log, first...)
		if len(own.log) > 0 {
			own.want, own.source = own.oneByOne(t, own.log, position), "the same log applied one by one"
		}
		if t.Failed() {
			return
		}
		own.run(t)
	})
}

// buries reports whether a topic has an event for tombstones.
func buries(entry *model.Topic) bool {
	return slices.ContainsFunc(entry.Events, func(e *model.Event) bool { return e.Tombstone })
}

// handled reports whether events of a topic have a handler in the transaction.
func handled(entry *model.Topic) bool {
	return slices.ContainsFunc(entry.Events, func(e *model.Event) bool { return e.Handle })
}

// starter returns the constructor for the scenarios under "spec". A topic whose only Go code is
// effects has no other scenarios, so these use the service's own handlers, which must be
// implemented.
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
	packed    map[string]*model.Topic // topics whose values are encoded, by name
	given     string                  // SQL: the rows before the log
	start     func(t testing.TB, db *pgxpool.Pool) (*idem.Consumer, error)
	scenarios func() []scenario // called again after each one
	log       []record
	want      *state
	normal    *state      // want, once it is as Postgres writes it
	source    string      // where want comes from
	handlers  bool        // with the service's own handlers
	ofCase    bool        // the log is that of a case
	buries    bool        // a topic's log: a record without a value has an effect
	exhausted atomic.Bool // a batch could not be applied in time
	loose     map[column]bool
}

// record is one record of the log with its index.
type record struct {
	index   int
	keyed   bool
	copies  proof.Copies
	handled string // name of the event, if it has a handler
	effect  string // the same if it has an effect
	locked  bool   // its Go code runs under a lock
	answer  answer // of the call
	message idem.Message
}

// numbered gives the records offsets 0, 1, 2, ... in partition 0 of their topic, and timestamps
// one second apart unless they have one. A record without a topic belongs to topic.
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
		out[i] = record{i, e.Keyed, e.copies, e.handled, e.effect, e.locked, answer{e.Result, e.Failure, e.Interrupted, false}, m}
	}
	return out
}

func (c *runner) run(t *testing.T) {
	if len(c.log) == 0 {
		t.Skip("idemtest: the log is empty: every event of this topic needs rows that no event of the spec creates, and on_failure says stop")
	}
	for i := 0; i < len(c.scenarios()); i++ {
		s := c.scenarios()[i]
		if testing.Short() && !basic[s.name] && !short[s.name] {
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
		if basic[s.name] && !sound {
			t.Logf("idemtest: %q fails: the scenarios after it are skipped", s.name)
			return
		}
	}
}

// position returns the record as it is delivered, unless a scenario moves it.
func position(r record) idem.Message { return r.message }
