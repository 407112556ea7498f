package idemtest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// flaw is a mistake in the small service below.
type flaw struct {
	noClaim, noWaves, samePrints, emptyIsTombstone, ownTransaction, unstable, unwritten bool

	sql string // of the handler, in place of its own
}

// plan is the plan of a service with a put, an add and a delete of rows (id, v); every put is
// followed by a handler call that adds v to a sum.
type plan struct {
	flaw
	db                     *pgxpool.Pool
	key                    wire.KeyBuilder
	upserts, inserts, dels wire.Rows
}

const (
	putSQL = `
WITH e AS (SELECT unnest($1::integer[]) AS id, unnest($2::integer[]) AS v)
INSERT INTO item (id, v) SELECT id, v FROM e ORDER BY id ON CONFLICT (id) DO UPDATE SET v = excluded.v`
	addSQL = `
WITH e AS (SELECT unnest($1::integer[]) AS id, unnest($2::integer[]) AS v)
INSERT INTO item (id, v) SELECT id, v FROM e ORDER BY id`
	deleteSQL = `
DELETE FROM item WHERE id = ANY ($1::integer[])`
	sumSQL    = `UPDATE total SET sum = sum + $1, at = $2`
	outboxSQL = `INSERT INTO idem_outbox (aggregatetype) VALUES ($1)`
)

func (p *plan) Add(b *wire.Batch, m *wire.Message) error {
	var e struct {
		Verb  string
		ID, V int32
	}
	if m.Value == nil || len(m.Value) == 0 && p.emptyIsTombstone {
		if _, err := fmt.Sscan(string(m.Key), &e.ID); err != nil {
			return &wire.DecodeError{Path: "record key", Reason: "must be an integer"}
		}
		b.Deletes(wire.Row("item").Int(int64(e.ID)))
		p.dels.Row().Int4(e.ID)
		return nil
	}
	if err := json.Unmarshal(m.Value, &e); err != nil {
		return &wire.DecodeError{Event: "Put", Path: "v", Reason: "does not decode"}
	}
	p.key.Start("0123456789abcdef")
	p.key.Header(m, "key")
	key, err := p.key.Sum("Put")
	if err != nil {
		return err
	}
	if p.noClaim {
		key = wire.Key{}
		copy(key[:], fmt.Sprintf("%016x", m.Offset<<8|int64(m.Partition)))
	}
	print := crc32.ChecksumIEEE(fmt.Append(nil, e))
	if p.samePrints {
		print = 0
	}
	if fresh, err := b.Claim("Put", key, 1, print, false); !fresh {
		return err
	}
	if !p.noWaves {
		b.Puts(wire.Row("item").Int(int64(e.ID)))
	}
	rows := &p.upserts
	if e.Verb == "add" {
		rows = &p.inserts
	}
	r := rows.Row()
	r.Int4(e.ID)
	r.Int4(e.V)
	b.Call(m, wire.Call{Event: "Put", Key: key, Fn: func(ctx context.Context, tx idem.Tx) error {
		at := time.Unix(0, 0)
		if p.unstable {
			at = time.Now()
		}
		if p.unwritten {
			return fmt.Errorf("Put: %w", idem.ErrNotImplemented)
		}
		if p.sql != "" {
			_, err := tx.Exec(ctx, p.sql, e.V)
			return err
		}
		if p.ownTransaction {
			_, err := p.db.Exec(ctx, sumSQL, e.V, at)
			return err
		}
		_, err := tx.Exec(ctx, sumSQL, e.V, at)
		return err
	}})
	return nil
}

func (p *plan) Flush(b *wire.Batch) {
	b.Write(addSQL, &p.inserts)
	b.Write(putSQL, &p.upserts)
	b.Write(deleteSQL, &p.dels)
}

// small runs the scenarios of the small service. Its log has a refused add at offset 2.
func small(t *testing.T, f flaw) *runner {
	t.Helper()
	var log []Event
	for i, text := range []string{"add 1 5", "put 1 7", "add 1 9", "put 2 8", "delete 1", "put 1 3", "put 3 4"} {
		var verb string
		var id, v int
		_, _ = fmt.Sscan(text, &verb, &id, &v)
		e := Event{Keyed: verb != "delete", Message: idem.Message{Key: fmt.Append(nil, id)}}
		if e.Keyed {
			e.Message.Value = fmt.Appendf(nil, `{"verb":%q,"id":%d,"v":%d}`, verb, id, v)
			e.Message.Headers = []idem.Header{{Name: "key", Value: fmt.Append(nil, "k", i)}}
		}
		log = append(log, e)
	}
	return &runner{
		Service: Service{Migrations: smallMigrations(t)},
		tables:  []comparedTable{{Name: "item", Key: []string{"id"}, Columns: []string{"id", "v"}}, {Name: "total", Columns: []string{"sum", "at"}}},
		log:     numbered("items.v1", log), scenarios: ofATopic(nil),
		source: "want",
		want: &state{
			tables: []rows{
				{"item", [][]string{{"id=1", "v=3"}, {"id=2", "v=8"}, {"id=3", "v=4"}}, notCounted},
				{"total", [][]string{{"sum=27", "at=1970-01-01T00:00:00.000000Z"}}, notCounted},
			},
			dead: map[int]expectedDead{2: {class: "database", path: "-"}},
		},
		start: func(_ testing.TB, db *pgxpool.Pool) (*idem.Consumer, error) { return f.consumer(db) },
	}
}

func (f flaw) consumer(db *pgxpool.Pool) (*idem.Consumer, error) {
	return idem.New(db, wire.Service{
		Consumer: "items", Schema: map[string]int{"core": 1, "keys": 1, "effects": 1}, Identity: wire.Identity{Writes: 1, Knows: []uint32{1}},
		Limits: wire.Limits{
			BatchEvents: 500, BatchBytes: 4 << 20, BatchWait: 50 * time.Millisecond, BatchTimeout: 10 * time.Second, EventTimeout: 5 * time.Second,
			StatementTimeout: 8 * time.Second, LockTimeout: 5 * time.Second, MaxPollInterval: 5 * time.Minute, MaxPayload: 1 << 10,
		},
		Topics: []wire.Topic{{
			Name: "items.v1", StartFrom: wire.Earliest, Window: time.Hour,
			NewPlan: func() wire.Plan { return &plan{flaw: f, db: db} },
		}},
	})
}

func smallMigrations(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "templates", "sql", "idem_*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var sql []byte
	for _, file := range files {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sql = append(sql, part...)
	}
	sql = append(sql, `
CREATE TABLE item (id integer PRIMARY KEY, v integer NOT NULL);
CREATE TABLE total (sum integer NOT NULL, at timestamptz NOT NULL);
INSERT INTO total VALUES (0, 'epoch');`...)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "0001.sql"), sql, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSoundServicePassesEveryScenario(t *testing.T) { small(t, flaw{}).run(t) }

// A topic in which no event can take effect, and none may be refused, is no fault of the
// service.
func TestTopicWithoutALogIsSkippedAndSaysWhy(t *testing.T) {
	t.Run("nothing can apply", func(t *testing.T) {
		t.Cleanup(func() {
			if !t.Skipped() {
				t.Error("the test went on without a log")
			}
		})
		(&runner{}).run(t)
	})
}

// Generated tests list the scenarios that are played.
func TestGeneratedTestsListTheScenarios(t *testing.T) {
	topic := &model.Topic{}
	e := &model.Event{Topic: topic, Code: model.Code{Handle: true, Effect: &model.Effect{Lock: &model.Lock{}}}}
	topic.Events = []*model.Event{e}
	listed := proof.Scenarios(&model.Service{Topics: []*model.Topic{topic}})
	var played []string
	log := []record{{effect: "E", locked: true}}
	for _, s := range ofATopic(log, untilCommit, Service{}.changesRows(nil, topic))() {
		played = append(played, s.name)
	}
	if !slices.Equal(listed, played) {
		t.Errorf("they list\n%q\nand play\n%q", listed, played)
	}
}

// Every flaw must be noticed by the scenario that is there for it.
func TestFlawsAreNoticed(t *testing.T) {
	for _, c := range []struct {
		name     string
		flaw     flaw
		edit     func(*runner)
		scenario string
		says     string
	}{
		{"wrong row", flaw{}, func(c *runner) { c.want.tables[0].cells[0][1] = "v=4" }, "one by one", "item id=1: v: want 4, got 3"},
		{"wrong dead letter", flaw{}, func(c *runner) { c.want.dead[2] = expectedDead{class: "decode", path: "v"} }, "one by one", "- items.v1 0 2 decode v\n"},
		{"no claim", flaw{noClaim: true}, nil, "repeated in the batch", "total: got  sum="},
		{"no claim", flaw{noClaim: true}, nil, "repeated in later batches", "the runtime reports"},
		{"no waves", flaw{noWaves: true}, nil, "one batch", "item id=1: "},
		{"same fingerprints", flaw{samePrints: true}, nil, "key with other content", "was taken for a duplicate"},
		{"empty value as tombstone", flaw{emptyIsTombstone: true}, nil, "tombstone", "an empty value in place of a tombstone had an effect"},
		{"handler of the scaffold", flaw{unwritten: true}, nil, "one batch", "likely cause: the Go code returns idem.ErrNotImplemented"},
		{"no outbox", flaw{sql: outboxSQL}, nil, "one batch", "likely cause: no migration creates idem_outbox: write the SQL that idemgen outbox migration prints"},
		{"unknown table", flaw{sql: `INSERT INTO nowhere SELECT $1::integer`}, nil, "one batch", "likely cause: the SQL does not fit the tables"},
		{"unknown column", flaw{sql: `UPDATE total SET nothing = $1`}, nil, "one batch", "likely cause: the SQL does not fit the tables"},
		{"handler writes outside its transaction", flaw{ownTransaction: true}, ownHandler, "rolled back, then applied", "the handler of Put wrote table total outside tx"},
		{"handler writes outside its transaction", flaw{ownTransaction: true}, ownHandler, "crash at every step", "the handler of Put wrote table total outside tx"},
		{"handler writes outside its transaction", flaw{ownTransaction: true}, ownHandler, "reply lost", "the handler of Put wrote table total outside tx"},
		{"handler writes outside its transaction", flaw{ownTransaction: true}, ownHandler, "zombie", "the handler of Put wrote table total outside tx"},
	} {
		t.Run(c.name+", "+c.scenario, func(t *testing.T) {
			run := small(t, c.flaw)
			if c.edit != nil {
				c.edit(run)
			}
			got := failures(t, run, c.scenario)
			if !strings.Contains(got, c.says) {
				t.Errorf("the scenario says\n%s\nwant %q in it", got, c.says)
			}
			if strings.Contains(got, "idemgen stream") { // which is for operators
				t.Errorf("the scenario says\n%s", got)
			}
		})
	}
}

// ownHandler makes the small service's handler the one that is tested.
func ownHandler(c *runner) {
	c.handlers, c.scenarios = true, ofATopic(nil, untilCommit)
	for i := range c.log {
		if c.log[i].keyed {
			c.log[i].handled = "Put"
		}
	}
}

func TestColumnThatChangesFromRunToRunIsLeftOut(t *testing.T) {
	run := small(t, flaw{unstable: true})
	run.handlers = true
	run.want = run.oneByOne(t, run.log, position)
	if got := failures(t, run, "one batch"); got != "" {
		t.Error(got)
	}
	run.want.tables[1].cells[0][0] = "sum=28"
	if got := failures(t, run, "one batch"); !strings.Contains(got, "total: got  sum=27\ntotal: want sum=28") {
		t.Errorf("got %q", got)
	}
}

// failures plays a scenario and returns what it reports.
func failures(t *testing.T, c *runner, name string) string {
	t.Helper()
	r := &recorder{TB: t}
	for _, s := range c.scenarios() {
		if s.name == name {
			done := make(chan struct{})
			go func() {
				defer close(done)
				b := c.newTrial(r)
				s.play(b)
				b.compare(s.suspects)
			}()
			<-done
			return r.text.String()
		}
	}
	t.Fatalf("no scenario %q", name)
	return ""
}

// recorder is a test that keeps its failures.
type recorder struct {
	testing.TB
	mu   sync.Mutex
	text strings.Builder
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.text, format+"\n", args...)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
