package generated_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/testdata/golden/behaviour/waves"
)

// TestWavesAgainstOracle: records over few rows of tables that name each other leave, as
// one batch and as small ones, what the oracle says they leave one by one; a batch fails
// only if it holds a record that the database must refuse.
func TestWavesAgainstOracle(t *testing.T) {
	s := load(t, "../../testdata/golden/behaviour/waves/idemgen.yaml")
	db := newDatabase(t)
	emptied(t, db)
	createTables(t, db, s)
	logs := map[string][]*wire.Message{
		"a parent put by a later statement": {
			record("ou", `"oid":1,"note":""`), record("oi", `"oid":2,"note":"","ref":1,"lines":[]`),
		},
		"rows changed after a cascade took them": {
			record("pi", `"sku":1,"name":""`), record("oi", `"oid":1,"note":"","lines":[{"no":1,"sku":1}]`), record("on", `"oid":1,"note":"x"`),
			record("od", `"oid":1`), record("ls", `"sku":1,"new":5`),
		},
		"a parent deleted before its last child": {
			record("pi", `"sku":1,"name":""`), record("oi", `"oid":1,"note":"","lines":[{"no":1,"sku":1}]`), record("on", `"oid":1,"note":"x"`),
			record("pd", `"sku":1`), record("ld", `"oid":1,"no":1`), record("on", `"oid":2,"note":"x"`),
		},
		"a child put before its parent": {
			record("oi", `"oid":1,"cid":1,"note":"","lines":[]`), record("co", `"cid":1,"name":""`),
		},
	}
	for seed := range uint64(20) {
		logs[fmt.Sprintf("seed %d", seed)] = randomRecords(seed)
	}
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		for _, size := range []int{3, 40} {
			t.Run(fmt.Sprintf("%s by %d", name, size), func(t *testing.T) { applyLog(t, s, db, logs[name], size) })
		}
	}
}

func load(t *testing.T, file string) *model.Service {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := syntax.Load(file, data)
	s, problems := resolve.Resolve(spec)
	if s == nil {
		t.Fatal(problems)
	}
	return s
}

// applyLog applies records in batches to empty tables and compares these with the oracle's.
func applyLog(t *testing.T, s *model.Service, db *pgxpool.Pool, records []*wire.Message, size int) {
	in := oracle.New(s)
	var outcomes []oracle.Outcome
	for i, m := range records {
		m.Offset = int64(i)
		outcomes = append(outcomes, in.Apply(oracle.Record{
			Topic: m.Topic, Offset: m.Offset, Key: m.Key, Value: m.Value, Headers: []oracle.Header{oracle.Header(m.Headers[0])},
		}))
	}
	r := &applier{batch: wire.NewBatch(waves.NewPlan()), outcomes: outcomes, conn: withoutRows(t, db, s)}
	defer r.conn.Release()
	for part := range slices.Chunk(records, size) {
		r.apply(t, part)
	}
	for _, table := range s.Tables {
		got, want := stored(t, db, table, in.Columns(table.Name)), slices.Sorted(slices.Values(in.Rows(table.Name)))
		if !slices.Equal(got, want) {
			t.Errorf("table %s\ngot  %q\nwant %q", table.Name, got, want)
		}
	}
}

func record(typ, members string) *wire.Message {
	return &wire.Message{
		Topic: "w", Key: []byte("1"), Value: []byte("{" + members + "}"), Headers: []wire.Header{{Name: "t", Value: []byte(typ)}},
	}
}

// applier stands in for the runtime: one transaction per batch, halved when it fails.
type applier struct {
	batch    *wire.Batch
	outcomes []oracle.Outcome
	conn     *pgxpool.Conn
}

func (r *applier) apply(t *testing.T, part []*wire.Message) {
	t.Helper()
	r.batch.Reset(nil)
	for _, m := range part {
		if _, err := r.batch.Add(m, &wire.FailurePolicy{}); err != nil {
			t.Fatalf("record %d: %v", m.Offset, err)
		}
	}
	steps, _ := r.batch.Finish()
	err := send(t.Context(), r.conn.Conn().PgConn(), steps)
	refused := slices.ContainsFunc(part, func(m *wire.Message) bool { return r.outcomes[m.Offset].Refused })
	switch {
	case (err != nil) != refused:
		t.Fatalf("records %d to %d: %v; the oracle refuses one: %t", part[0].Offset, part[len(part)-1].Offset, err, refused)
	case err != nil && len(part) > 1:
		r.apply(t, part[:len(part)/2])
		r.apply(t, part[len(part)/2:])
	}
}

// send runs the statements in one implicit transaction.
func send(ctx context.Context, conn *pgconn.PgConn, steps []wire.Step) error {
	batch := &pgconn.Batch{}
	for _, s := range steps {
		batch.ExecParams(s.SQL, s.Args, nil, []int16{1}, nil)
	}
	return conn.ExecBatch(ctx, batch).Close()
}

// stored returns rows of integers and texts as the oracle writes them.
func stored(t *testing.T, db *pgxpool.Pool, table *model.Table, columns []string) []string {
	t.Helper()
	var parts []string
	for _, c := range columns {
		parts = append(parts, fmt.Sprintf("'%s=' || coalesce(to_json(%s)::text, 'NULL')", c, c))
	}
	res, err := db.Query(t.Context(), "SELECT "+strings.Join(parts, " || '  ' || ")+" FROM "+table.Name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for res.Next() {
		var line string
		if err := res.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := res.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// randomRecords makes forty records. Types that make rows come more often than others.
func randomRecords(seed uint64) []*wire.Message {
	r := rand.New(rand.NewPCG(seed, 7))
	types := strings.Fields("cu cu co cd cm pi pi pd oi oi oi ou ou os on od lr ls lu lu ld")
	small := func() int { return 1 + r.IntN(3) }
	maybe := func(text string) string {
		if r.IntN(3) == 0 {
			return "null"
		}
		return text
	}
	var out []*wire.Message
	for i := range 40 {
		typ := types[r.IntN(len(types))]
		cid := fmt.Sprint(small())
		if typ[0] == 'o' {
			cid = maybe(cid)
		}
		var lines []string
		for no := range r.IntN(3) {
			lines = append(lines, fmt.Sprintf(`{"no":%d,"sku":%d}`, no+1, small()))
		}
		out = append(out, record(typ, fmt.Sprintf(`"cid":%s,"name":"n%d","email":%s,"sku":%d,"oid":%d,"note":"x%d","no":%d,"new":%d,"ref":%s,"lines":[%s]`,
			cid, i, maybe(fmt.Sprintf(`"m%d"`, small())), small(), small(), i, 1+r.IntN(2), i, maybe(fmt.Sprint(small())), strings.Join(lines, ","))))
	}
	return out
}
