package sqlcode_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// stepCase is one step of one event on one table. before is SQL; params are the columns of
// the rows in the order of $n; want are the table's rows afterwards, as Postgres prints them.
type stepCase struct {
	name    string
	table   string // its keys in the spec
	fields  string
	write   string
	assume  string
	before  string
	params  []any
	want    []string
	refused string // part of the database's error

	contended bool // other partitions change the rows
}

// contendedToo are the cases, and those whose statement may have to lock its rows once more with
// that.
func contendedToo(cases []stepCase) []stepCase {
	all := slices.Clone(cases)
	for _, c := range cases {
		verb, _, _ := strings.Cut(c.write, ":")
		if verb == "update" || verb == "delete" || verb == "add" {
			c.name, c.contended = c.name+", contended", true
			all = append(all, c)
		}
	}
	return all
}

func (c stepCase) spec() string {
	assume := c.assume
	if assume == "" {
		assume = "ordered, unique"
	}
	return fmt.Sprintf(`version: 1
consumer: c
package: p
types:
  Line: {fields: {sku: string, n: int32}}
  Mood: {enum: [happy, sad]}
tables:
  t1: {%s}
topics:
  topic:
    record_key: {id: int32}
    assume: [%s]
    idempotency_key: {source: {record: offset}}
    events:
      Happened:
        fields: {%s}
        write:
          - {%s}
  others:
    idempotency_key: {source: {header: id}, window: 8d}
    events:
      Other: {fields: {line: Line, mood: Mood}, handle: true}
`, c.table, assume, c.fields, c.write)
}

type ints = []int32
type texts = []string

func ptr[T any](v T) *T { return &v }

var stepCases = []stepCase{
	{
		name: "insert", table: "primary_key: [id], columns: {id: integer, v: text}", fields: "v: string", write: "insert: t1",
		params: []any{ints{2, 1}, texts{"b", "a"}}, want: []string{"(1,a)", "(2,b)"},
	},
	{
		name: "insert of an existing row is refused", table: "primary_key: [id], columns: {id: integer, v: text}", fields: "v: string", write: "insert: t1",
		before: "INSERT INTO t1 VALUES (1, 'old')", params: []any{ints{1}, texts{"a"}}, want: []string{"(1,old)"}, refused: "t1_pkey",
	},
	{
		name: "insert skips an existing row", table: "primary_key: [id], columns: {id: integer, v: text}", fields: "v: string", write: "insert: t1, if_exists: skip",
		before: "INSERT INTO t1 VALUES (1, 'old')", params: []any{ints{1, 2}, texts{"a", "b"}}, want: []string{"(1,old)", "(2,b)"},
	},
	{
		name:  "insert does not skip another unique key",
		table: "primary_key: [id], columns: {id: integer, v: text}, unique: [[v]]", fields: "v: string", write: "insert: t1, if_exists: skip",
		before: "INSERT INTO t1 VALUES (1, 'a')", params: []any{ints{2}, texts{"a"}}, want: []string{"(1,a)"}, refused: "t1_v_key",
	},
	{
		name:  "insert numbers rows in the order of the events",
		table: "primary_key: [no], columns: {no: {type: bigint, identity: true}, v: text, made: {type: boolean, default: true}}", fields: "v: string",
		write: "insert: t1, leave: [made]", assume: "unique",
		params: []any{texts{"c", "a", "b"}}, want: []string{"(1,c,t)", "(2,a,t)", "(3,b,t)"},
	},
	{
		name:  "insert of rows whose key the database makes in part keeps their order",
		table: "primary_key: [g, no], columns: {g: text, no: {type: bigint, identity: true}, v: text}", fields: "g: string, v: string",
		write: "insert: t1", assume: "unique",
		params: []any{texts{"b", "a", "b", "a"}, texts{"1", "2", "3", "4"}}, want: []string{"(a,1,2)", "(a,2,4)", "(b,3,1)", "(b,4,3)"},
	},
	{
		name:  "insert of constants alone sends the number of rows",
		table: "primary_key: [no], columns: {no: {type: bigint, identity: true}, n: text}", fields: "", write: "insert: t1, set: {n: {value: x}}", assume: "unique",
		params: []any{ints{1, 1}}, want: []string{"(1,x)", "(2,x)"},
	},
	{
		name: "upsert", table: "primary_key: [id], columns: {id: integer, v: nullable text, w: nullable text, c: varchar(9)}", fields: "v: optional string",
		write:  "upsert: t1, set: {c: {value: \"it's\"}}, clear: [w]",
		before: "INSERT INTO t1 VALUES (1, 'old', 'w', 'c'), (3, 'x', 'y', 'z')", params: []any{ints{1, 2}, []*string{nil, ptr("b")}},
		want: []string{"(1,,,it's)", "(2,b,,it's)", "(3,x,y,z)"},
	},
	{
		name: "upsert leaves columns", table: "primary_key: [id], columns: {id: integer, v: text, w: {type: text, default: w}}", fields: "v: string",
		write:  "upsert: t1, leave: [w]",
		before: "INSERT INTO t1 VALUES (1, 'old', 'mine')", params: []any{ints{1, 2}, texts{"a", "b"}}, want: []string{"(1,a,mine)", "(2,b,w)"},
	},
	{
		name: "upsert of key columns alone", table: "primary_key: [id], columns: {id: integer}", fields: "", write: "upsert: t1",
		before: "INSERT INTO t1 VALUES (1)", params: []any{ints{1, 2}}, want: []string{"(1)", "(2)"},
	},
	{
		name:  "upsert by another unique key changes the primary key",
		table: "primary_key: [id], columns: {id: integer, v: text, n: integer}, unique: [[v]]", fields: "v: string, n: int32", write: "upsert: t1, by: [v], if_newer: n",
		before: "INSERT INTO t1 VALUES (7, 'a', 1), (8, 'b', 5)", params: []any{ints{1, 2, 3}, texts{"a", "b", "c"}, ints{2, 3, 4}}, want: []string{"(1,a,2)", "(3,c,4)", "(8,b,5)"},
	},
	{
		name:  "upsert collapses equal rows to the last",
		table: "primary_key: [id], columns: {id: integer, v: text}", fields: "v: string", write: "upsert: t1",
		params: []any{ints{2, 1, 2, 1, 2}, texts{"a", "b", "c", "d", "e"}}, want: []string{"(1,d)", "(2,e)"},
	},
	{
		name:  "if_newer keeps the newest, of equals the first, also against stored rows",
		table: "primary_key: [id], columns: {id: integer, n: integer, v: text}", fields: "n: int32, v: string", write: "upsert: t1, if_newer: n",
		before: "INSERT INTO t1 VALUES (1, 5, 'stored'), (2, 5, 'stored')",
		params: []any{ints{1, 2, 3, 3, 3, 2}, ints{5, 6, 8, 9, 9, 4}, texts{"same", "newer", "a", "b", "c", "late"}},
		want:   []string{"(1,5,stored)", "(2,6,newer)", "(3,9,b)"},
	},
	{
		name:  "if_newer takes a stored NULL for older",
		table: "primary_key: [id], columns: {id: integer, n: nullable integer, v: text}", fields: "n: int32, v: string", write: "upsert: t1, if_newer: n",
		before: "INSERT INTO t1 VALUES (1, NULL, 'stored'), (2, 5, 'stored')",
		params: []any{ints{1, 2}, ints{1, 1}, texts{"a", "b"}},
		want:   []string{"(1,1,a)", "(2,5,stored)"},
	},
	{
		name: "update", table: "primary_key: [id], columns: {id: integer, n: text, v: nullable text, at: nullable timestamptz, s: text}", fields: "n: string",
		write:  "update: t1, set: {n: n, s: {value: done}}, clear: [v]",
		before: "INSERT INTO t1 VALUES (1, 'a', 'x', NULL, 'open'), (2, 'b', 'y', NULL, 'open')", params: []any{ints{2}, texts{"new"}},
		want: []string{"(1,a,x,,open)", "(2,new,,,done)"},
	},
	{
		name: "update of a missing row is refused", table: "primary_key: [id], columns: {id: integer, v: text}", fields: "v: string",
		write:  "update: t1, set: {v: v}",
		before: "INSERT INTO t1 VALUES (1, 'old')", params: []any{ints{1, 2}, texts{"a", "b"}}, want: []string{"(1,old)"}, refused: "idem_step_refused",
	},
	{
		name: "update skips a missing row", table: "primary_key: [id], columns: {id: integer, v: text}", fields: "v: string",
		write:  "update: t1, set: {v: v}, if_missing: skip",
		before: "INSERT INTO t1 VALUES (1, 'old')", params: []any{ints{1, 2}, texts{"a", "b"}}, want: []string{"(1,a)"},
	},
	{
		name: "update of a stale row is not a missing one", table: "primary_key: [id], columns: {id: integer, n: integer}", fields: "n: int32",
		write:  "update: t1, set: {n: n}, if_newer: n",
		before: "INSERT INTO t1 VALUES (1, 5), (2, 5), (3, 5)", params: []any{ints{1, 2, 3}, ints{4, 5, 6}}, want: []string{"(1,5)", "(2,5)", "(3,6)"},
	},
	{
		name: "update of a missing row is refused although others are stale", table: "primary_key: [id], columns: {id: integer, n: nullable integer}", fields: "n: int32",
		write:  "update: t1, set: {n: n}, if_newer: n",
		before: "INSERT INTO t1 VALUES (1, 5)", params: []any{ints{1, 2}, ints{4, 4}}, want: []string{"(1,5)"}, refused: "idem_step_refused",
	},
	{
		name: "update of constants alone", table: "primary_key: [id], columns: {id: integer, v: text}",
		write:  "update: t1, where: {id: {value: 1}}, set: {v: {value: shut}}",
		before: "INSERT INTO t1 VALUES (1, 'a'), (2, 'b')", params: []any{ints{1}}, want: []string{"(1,shut)", "(2,b)"},
	},
	{
		name: "constants of every size", table: "primary_key: [id], columns: {id: integer, a: smallint, b: integer, c: bigint, d: numeric, e: real, f: double precision}",
		write:  "upsert: t1, set: {a: {value: -32768}, b: {value: -2147483648}, c: {value: -9223372036854775808}, d: {value: -0.1}, e: {value: -0.1}, f: {value: -0.1}}",
		params: []any{ints{1}}, want: []string{"(1,-32768,-2147483648,-9223372036854775808,-0.1,-0.1,-0.1)"},
	},
	{
		name: "where compares with constants of every size", table: "primary_key: [id], columns: {id: integer, a: smallint, b: integer, c: bigint, d: numeric, e: real, f: double precision, v: text}",
		write:  "update: t1, where: {id: id, a: {value: -32768}, b: {value: -2147483648}, c: {value: -9223372036854775808}, d: {value: -0.1}, e: {value: 0.1}, f: {value: 0.1}}, set: {v: {value: met}}",
		before: "INSERT INTO t1 VALUES (1, -32768, -2147483648, -9223372036854775808, -0.1, 0.1, 0.1, '-')",
		params: []any{ints{1}}, want: []string{"(1,-32768,-2147483648,-9223372036854775808,-0.1,0.1,0.1,met)"},
	},
	{
		name: "update of a missing row by constants alone is refused", table: "primary_key: [id], columns: {id: integer, v: text}",
		write:  "update: t1, where: {id: {value: 1}}, set: {v: {value: shut}}",
		before: "INSERT INTO t1 VALUES (2, 'b')", params: []any{ints{1}}, want: []string{"(2,b)"}, refused: "idem_step_refused",
	},
	{
		name: "update of many rows", table: "primary_key: [id], columns: {id: integer, g: text, h: varchar(9), v: text}", fields: "g: string",
		write:  "update: t1, where: {g: g, h: {value: x}}, set: {v: {value: shut}}, many: true",
		before: "INSERT INTO t1 VALUES (1, 'a', 'x', ''), (2, 'a', 'x', ''), (3, 'b', 'x', ''), (4, 'a', 'y', '')", params: []any{texts{"a"}},
		want: []string{"(1,a,x,shut)", "(2,a,x,shut)", "(3,b,x,\"\")", "(4,a,y,\"\")"},
	},
	{
		name: "update of many rows that finds none is refused", table: "primary_key: [id], columns: {id: integer, g: text, v: text}", fields: "g: string",
		write:  "update: t1, where: {g: g}, set: {v: {value: shut}}, many: true",
		before: "INSERT INTO t1 VALUES (1, 'a', 'open')", params: []any{texts{"b"}}, want: []string{"(1,a,open)"}, refused: "idem_step_refused",
	},
	{
		name: "delete", table: "primary_key: [id], columns: {id: integer, v: text}", fields: "", write: "delete: t1",
		before: "INSERT INTO t1 VALUES (1, 'a'), (2, 'b')", params: []any{ints{2, 3}}, want: []string{"(1,a)"},
	},
	{
		name: "delete of an older row", table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int32",
		write:  "delete: t1, if_newer: n",
		before: "INSERT INTO t1 VALUES (1, 5), (2, 5), (3, 5)", params: []any{ints{1, 2, 3}, ints{4, 5, 6}}, want: []string{"(1,5)", "(2,5)"},
	},
	{
		name: "char compares with its blanks", table: "primary_key: [id, c], columns: {id: integer, c: char(3), v: text}", fields: "c: string, v: string",
		write:  "update: t1, set: {v: v}",
		before: "INSERT INTO t1 VALUES (1, 'ab ', 'x'), (1, 'abc', 'y')", params: []any{ints{1}, texts{"ab "}, texts{"new"}},
		want: []string{`(1,"ab ",new)`, "(1,abc,y)"},
	},
	{
		name: "names that Postgres must be told apart", table: `primary_key: [id], columns: {id: integer, user: text, n: integer, e: text, t: text}`,
		fields: "user: string, n: int32, e: string, t: string", write: "upsert: t1, if_newer: n",
		before: `INSERT INTO t1 VALUES (1, 'u', 1, 'e', 't')`, params: []any{ints{1, 1}, texts{"v", "w"}, ints{2, 3}, texts{"f", "g"}, texts{"s", "r"}},
		want: []string{"(1,w,3,g,r)"},
	},
}

// TestStatements: each statement does to the table what the step says, also if it locks the rows
// first because other partitions change them.
func TestStatements(t *testing.T) {
	db := withRuntime(t)
	for _, c := range contendedToo(slices.Concat(stepCases, sumCases)) {
		t.Run(c.name, func(t *testing.T) {
			s := load(t, c.spec())
			step := s.Topics[0].Events[0].Steps[0]
			step.Contended = c.contended
			sql := statement(t, step)
			if len(step.Params()) != len(c.params) {
				t.Fatalf("%d parameters, the test has %d\n%s", len(step.Params()), len(c.params), sql)
			}
			hasTables(t, db, s)
			if c.before != "" {
				idemtest.Exec(t, db, c.before)
			}
			_, err := db.Exec(t.Context(), sql, c.params...)
			switch {
			case c.refused == "" && err != nil:
				t.Fatalf("%v\n%s", err, sql)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
				t.Fatalf("got %v, want an error of %s\n%s", err, c.refused, sql)
			}
			if got := rows(t, db, "SELECT * FROM t1 ORDER BY t1::text"); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q\n%s", got, c.want, sql)
			}
		})
	}
}

// TestRowsAreFoundByIndex: what a batch costs does not grow with its table. The planner must
// not take the rows of a batch for so many that it reads the whole table.
func TestRowsAreFoundByIndex(t *testing.T) {
	db := withRuntime(t)
	for _, c := range contendedToo(slices.Concat(stepCases, sumCases)) {
		verb, _, _ := strings.Cut(c.write, ":")
		if verb != "update" && verb != "delete" && verb != "add" || strings.Contains(c.write, "where:") || !strings.HasPrefix(c.table, "primary_key: [id], columns: {id: integer") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := load(t, c.spec())
			step := s.Topics[0].Events[0].Steps[0]
			step.Contended = c.contended
			sql := statement(t, step)
			hasTables(t, db, s)
			fill(t, db, s.Tables[0])
			conn, err := db.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Release()
			for _, prepare := range []string{"PREPARE s AS " + sql, "SET plan_cache_mode = force_generic_plan"} {
				if _, err := conn.Exec(t.Context(), prepare); err != nil {
					t.Fatalf("%v\n%s", err, prepare)
				}
			}
			nulls := strings.TrimSuffix(strings.Repeat("NULL, ", len(step.Params())), ", ")
			lines, err := conn.Query(t.Context(), "EXPLAIN EXECUTE s("+nulls+")")
			if err != nil {
				t.Fatal(err)
			}
			plan, err := pgx.CollectRows(lines, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan on t1") {
				t.Errorf("the whole table is read:\n%s\n%s", sql, text)
			}
		})
	}
}

// fill makes many rows in a table whose key is an integer.
func fill(t *testing.T, db *pgxpool.Pool, table *model.Table) {
	t.Helper()
	texts := map[string]string{"n": "1", "v": "x", "s": "x", "m": "1", "k": "1"}
	columns, values := []string{"id"}, []string{"100 + i"}
	for _, c := range table.Columns {
		if text, ok := texts[c.Name]; ok {
			columns, values = append(columns, c.Name), append(values, "'"+text+"'")
		}
	}
	idemtest.Exec(t, db, fmt.Sprintf("INSERT INTO t1 (%s) SELECT %s FROM generate_series(1, 20000) AS i", strings.Join(columns, ", "), strings.Join(values, ", ")))
}

// TestGoldenStatementsPrepare: Postgres takes every statement and every table of the
// accepted specs.
func TestGoldenStatementsPrepare(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/golden/accepted/*/idemgen.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d specs (%v)", len(files), err)
	}
	db := withRuntime(t)
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			spec, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := load(t, string(spec))
			external, err := os.ReadFile(filepath.Join(filepath.Dir(file), "testdata", "idem_external.sql"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			hasTables(t, db, s, string(external))
			for _, topic := range s.Topics {
				for _, step := range topic.Flush {
					sql := statement(t, step)
					conn, err := db.Acquire(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					desc, err := conn.Conn().PgConn().Prepare(t.Context(), "", sql, nil)
					conn.Release()
					if err != nil {
						t.Errorf("%s: %v\n%s", step.GoName, err, sql)
						continue
					}
					if len(desc.ParamOIDs) != len(step.Params()) {
						t.Errorf("%s: %d parameters, want %d", step.GoName, len(desc.ParamOIDs), len(step.Params()))
					}
				}
			}
		})
	}
}

// TestTableNames: tables may bear the names that statements use themselves.
func TestTableNames(t *testing.T) {
	db := withRuntime(t)
	writes := []string{"insert: t1", "upsert: t1, if_newer: v", "update: t1, set: {v: v}", "update: t1, set: {v: v}, if_newer: v", "delete: t1"}
	for _, name := range []string{"e", "t", "u", "excluded", "n"} {
		for _, write := range writes {
			c := stepCase{table: "primary_key: [id], columns: {id: integer, v: integer}", fields: "v: int32", write: write}
			if strings.HasPrefix(write, "delete") {
				c.fields = ""
			}
			s := load(t, strings.NewReplacer("t1: {", name+": {", ": t1", ": "+name).Replace(c.spec()))
			hasTables(t, db, s)
			if !strings.HasPrefix(write, "insert") {
				idemtest.Exec(t, db, "INSERT INTO "+name+" VALUES (1, 0)")
			}
			step := s.Topics[0].Events[0].Steps[0]
			params := []any{ints{1}, ints{5}}[:len(step.Params())]
			idemtest.Exec(t, db, statement(t, step), params...)
			want := []string{"(1,5)"}
			if strings.HasPrefix(write, "delete") {
				want = nil
			}
			if got := rows(t, db, "SELECT * FROM "+name); !slices.Equal(got, want) {
				t.Errorf("%s on %s: %q", write, name, got)
			}
		}
	}
}
