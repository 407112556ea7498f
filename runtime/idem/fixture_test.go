package idem_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/effects"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/templates"
)

// plan is a plan as generated code would be, for records whose value is "verb row number": put
// upserts, add inserts, need updates and must find the row, call calls the handler, locked calls
// it under a lock, effect puts the number that the effect returns, skip is ignored, stop halts.
// Header key is the idempotency key, header here is one with copies: same_partition; without them
// the record is identified by its offset.
type plan struct {
	handle func(ctx context.Context, tx idem.Tx, row int32) error
	effect func(ctx context.Context, row int32) (number int32, err error)
	terms  *wire.EffectTerms
	// resultless says that the effect returns nothing.
	resultless bool
	// unit is what results begin with; those without it are read, too.
	unit string

	content uint32
	key     wire.KeyBuilder
	upserts wire.Rows
	inserts wire.Rows
	updates wire.Rows
}

const (
	upsertSQL = `
WITH e AS (SELECT unnest($1::integer[]) AS id, unnest($2::integer[]) AS v)
INSERT INTO t (id, v) SELECT id, v FROM e ORDER BY id ON CONFLICT (id) DO UPDATE SET v = excluded.v`
	insertSQL = `
WITH e AS (SELECT unnest($1::integer[]) AS id, unnest($2::integer[]) AS v)
INSERT INTO t (id, v) SELECT id, v FROM e ORDER BY id`
	updateSQL = `
WITH e AS (SELECT *, row_number() OVER () AS n FROM (SELECT unnest($1::integer[]) AS id, unnest($2::integer[]) AS v) AS e),
u AS (UPDATE t SET v = e.v FROM e WHERE t.id = e.id RETURNING e.n)
INSERT INTO idem_step_refused (reason, in_table) SELECT 'no row with this key', 't' FROM e WHERE NOT EXISTS (SELECT FROM u WHERE u.n = e.n)`
)

func (p *plan) Add(b *wire.Batch, m *wire.Message) error {
	verb, rest, _ := strings.Cut(string(m.Value), " ")
	row, number, _ := strings.Cut(rest, " ")
	id, err := strconv.ParseInt(row, 10, 32)
	if err != nil {
		return &wire.DecodeError{Event: "Test", Path: "row", Reason: "must be a number"}
	}
	v, _ := strconv.ParseInt(number, 10, 32)
	if len(m.Headers) > 0 {
		p.key.Start("0123456789abcdef")
		p.key.Header(m, m.Headers[0].Name)
		key, err := p.key.Sum("Test")
		if err != nil {
			return err
		}
		here := m.Headers[0].Name == "here"
		if fresh, err := b.Claim("Test", key, p.content, uint32(id)<<16|uint32(v), here); !fresh {
			return err
		}
	}
	switch verb {
	case "skip":
		b.Ignore()
		return nil
	case "stop":
		_, err := stopping.Take(b, m, refusing{}, &struct{}{})
		return err
	case "call":
		b.Call(m, wire.Call{Event: "Test", Fn: func(ctx context.Context, tx idem.Tx) error {
			return p.handle(ctx, tx, int32(id))
		}})
		return nil
	}
	if verb == "effect" {
		ok := false
		if v, ok, err = p.result(b, m, int32(id)); !ok {
			return err
		}
		verb = "put"
	}
	rows := map[string]*wire.Rows{"put": &p.upserts, "add": &p.inserts, "need": &p.updates}[verb]
	b.Puts(wire.Row("t").Int(id))
	r := rows.Row()
	r.Int4(int32(id))
	r.Int4(int32(v))
	return nil
}

// result is what the record's effect returned.
func (p *plan) result(b *wire.Batch, m *wire.Message, id int32) (v int64, ok bool, err error) {
	e := wire.Effect{Event: "Test", Terms: p.terms, Fn: func(ctx context.Context) ([]byte, error) {
		n, err := p.effect(ctx, id)
		if p.resultless {
			return nil, err
		}
		return []byte(p.unit + strconv.Itoa(int(n))), err
	}}
	if !p.resultless {
		e.Read = func(result []byte) (err error) {
			number, _ := strings.CutPrefix(string(result), p.unit)
			if v, err = strconv.ParseInt(number, 10, 32); err != nil || v < 0 {
				return &wire.DecodeError{Event: "Test", Class: wire.ReasonResult, Path: "result", Reason: "must be a number"}
			}
			return nil
		}
	}
	ok, err = b.Effect(m, e)
	return v, ok, err
}

func (p *plan) Flush(b *wire.Batch) {
	b.Write(insertSQL, &p.inserts)
	b.Write(upsertSQL, &p.upserts)
	b.Write(updateSQL, &p.updates)
}

// service is the spec that a test runs.
type service struct {
	handle func(ctx context.Context, tx idem.Tx, row int32) error
	effect func(ctx context.Context, row int32) (number int32, err error)
	terms  wire.EffectTerms
	// resultless says that the effect returns nothing.
	resultless bool
	// unit is what results begin with; those without it are read, too.
	unit string

	policy  wire.FailurePolicy
	content uint32
	edit    func(*wire.Service)
	options []idem.Option
}

const topic = "test.v1"

func (s service) consumer(t testing.TB, db *pgxpool.Pool) *idem.Consumer {
	t.Helper()
	spec := wire.Service{
		Consumer: "test", Schema: map[string]int{"core": 1, "keys": 1, "effects": 1}, Identity: wire.Identity{Writes: 1, Knows: []uint32{1}},
		Limits: wire.Limits{
			BatchEvents: 500, BatchBytes: 4 << 20, BatchWait: 50 * time.Millisecond, BatchTimeout: 10 * time.Second, EventTimeout: 5 * time.Second,
			StatementTimeout: 8 * time.Second, LockTimeout: 5 * time.Second, MaxPollInterval: 5 * time.Minute, MaxPayload: 1 << 10,
		},
		Topics: []wire.Topic{{
			Name: topic, StartFrom: wire.Earliest, OnFailure: s.policy, Window: time.Hour,
			NewPlan: func() wire.Plan {
				return &plan{handle: s.handle, effect: s.effect, terms: &s.terms, resultless: s.resultless, unit: s.unit, content: s.content}
			},
			Effects: s.terms.Timeout,
		}},
	}
	spec.Limits.Effects = 8
	if s.edit != nil {
		s.edit(&spec)
	}
	options := s.options
	if spec.EffectTimeout() > 0 {
		options = append([]idem.Option{effects.Option()}, options...)
	}
	c, err := idem.New(db, spec, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// database returns a database with the runtime's tables and table t.
func database(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return idemtest.Migrated(t, runtimeFiles(t), filepath.Join("testdata", "table"))
}

// runtimeTables applies the runtime's migrations.
func runtimeTables(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	idemtest.Migrate(t, db, runtimeFiles(t))
}

// runtimeFiles is a folder of the runtime's migrations as they are compiled in.
func runtimeFiles(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.SQL); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "sql")
}

func migrate(t testing.TB, db *pgxpool.Pool) {
	t.Helper()
	runtimeTables(t, db)
	idemtest.Migrate(t, db, filepath.Join("testdata", "table"))
}

// records makes messages at consecutive offsets. "k: put 1 2" carries key k, "@k: put 1 2"
// carries it for this partition only.
func records(from int64, texts ...string) []idem.Message {
	msgs := make([]idem.Message, len(texts))
	for i, text := range texts {
		m := idem.Message{Topic: topic, Offset: from + int64(i), LeaderEpoch: -1}
		if key, rest, ok := strings.Cut(text, ": "); ok {
			m.Headers = []idem.Header{{Name: "key", Value: []byte(key)}}
			if here, ok := strings.CutPrefix(string(m.Headers[0].Value), "@"); ok {
				m.Headers[0] = idem.Header{Name: "here", Value: []byte(here)}
			}
			text = rest
		}
		m.Value = []byte(text)
		msgs[i] = m
	}
	return msgs
}

func own(t testing.TB, c *idem.Consumer) *idem.Writer {
	t.Helper()
	w, err := c.Own(t.Context(), topic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func apply(t testing.TB, w *idem.Writer, msgs []idem.Message) idem.Result {
	t.Helper()
	res, err := w.Apply(t.Context(), msgs)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// table is the content of t as "id=v id=v", in order.
func table(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return query(t, db, `SELECT coalesce(string_agg(id || '=' || v, ' ' ORDER BY id), '') FROM t`)
}

// letters are the dead letters as "offset class", in order.
func letters(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return query(t, db, `SELECT coalesce(string_agg(offs || ' ' || split_part(reason, ':', 1), ', ' ORDER BY offs), '') FROM idem_dead_letter`)
}

func query(t testing.TB, db *pgxpool.Pool, sql string, args ...any) string {
	t.Helper()
	rows, err := db.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := pgx.CollectOneRow(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func wantError[E error](t testing.TB, err error) E {
	t.Helper()
	e, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("got error %v (%T), want a %s", err, err, fmt.Sprintf("%T", e))
	}
	return e
}

// window makes keys expire after d.
func window(d time.Duration) func(*wire.Service) {
	return func(s *wire.Service) { s.Topics[0].Window = d }
}

// lengthy begins a test that go test -short leaves out, because others that take less show most of
// what it shows.
func lengthy(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
}

// oneOrBoth is true or false by turns, and both in the long run: half of the pairs of a condition
// with others meet each value of it.
func oneOrBoth(n int) []bool {
	if longtest.Wanted() {
		return []bool{true, false}
	}
	return []bool{n%2 == 0}
}

// stopping is an event that no record is, and whose on_failure says stop.
var stopping = wire.Event[struct{}, refusing]{OnFailure: &wire.FailurePolicy{Stop: true}, Decode: func(*struct{}, refusing, *wire.Message) {}}

// refusing is a decoder that takes nothing.
type refusing struct{}

func (refusing) Borrow(*wire.Message) {}
func (refusing) Reset(*wire.Message)  {}
func (refusing) Finish(string) error  { return wire.Unknown("stop") }
