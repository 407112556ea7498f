package gocode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// combination is a type with a column that it fills.
type combination struct {
	field, column string
	key           bool // it may find rows and be part of keys
	guard         bool // if_newer may compare it
	list          bool // it is a list, or has members: no header holds it
}

var combinations = []combination{
	{field: "string", column: "text", key: true}, {field: "string", column: "varchar(20)", key: true},
	{field: "string", column: "char(9)", key: true},
	{field: "uuid", column: "uuid", key: true}, {field: "uuid", column: "text", key: true},
	{field: "bool", column: "boolean"},
	{field: "int32", column: "smallint", key: true, guard: true}, {field: "float64", column: "real", guard: true},
	{field: "string", column: "inet"}, {field: "string", column: "interval"}, {field: "string", column: "point"},
	{field: "int32", column: "integer", key: true, guard: true}, {field: "int32", column: "bigint", key: true, guard: true},
	{field: "int32", column: "numeric", key: true, guard: true},
	{field: "int64", column: "bigint", key: true, guard: true}, {field: "int64", column: "numeric", key: true, guard: true},
	{field: "float64", column: "double precision", guard: true},
	{field: "decimal", column: "numeric", key: true, guard: true}, {field: "decimal", column: "numeric(12,2)", key: true, guard: true},
	{field: "timestamp", column: "timestamptz", key: true, guard: true},
	{field: "epoch_s", column: "timestamptz", key: true, guard: true}, {field: "epoch_ms", column: "timestamptz", key: true, guard: true},
	{field: "epoch_us", column: "timestamptz", key: true, guard: true}, {field: "epoch_ns", column: "timestamptz", key: true, guard: true},
	{field: "local_timestamp", column: "timestamp", guard: true},
	{field: "date", column: "date", key: true, guard: true}, {field: "epoch_days", column: "date", key: true, guard: true},
	{field: "bytes", column: "bytea", key: true},
	{field: "json", column: "jsonb"}, {field: "json", column: "json"},
	{field: "Color", column: "text", key: true}, {field: "Color", column: "varchar(5)", key: true}, {field: "Color", column: "named(public.color)", key: true},
	{field: "Thing", column: "jsonb", list: true}, {field: "list(Thing)", column: "jsonb", list: true},
	{field: "list(string)", column: "jsonb", list: true}, {field: "list(string)", column: "text array", list: true},
	{field: "list(int32)", column: "integer array", list: true}, {field: "list(int64)", column: "bigint array", list: true},
	{field: "list(uuid)", column: "uuid array", list: true}, {field: "list(bool)", column: "boolean array", list: true},
	{field: "list(int32)", column: "smallint array", list: true}, {field: "list(float64)", column: "real array", list: true},
	{field: "list(float64)", column: "double precision array", list: true}, {field: "list(decimal)", column: "numeric array", list: true},
	{field: "list(epoch_ms)", column: "timestamptz array", list: true}, {field: "list(local_timestamp)", column: "timestamp array", list: true},
	{field: "list(date)", column: "date array", list: true}, {field: "list(string)", column: "inet array", list: true},
	{field: "list(list(date))", column: "jsonb", list: true},
}

// spec uses the type in every place where it may stand, required and optional.
func (c combination) spec() string {
	var tables, topics strings.Builder
	fmt.Fprintf(&tables, "  plain: {primary_key: [id], columns: {id: bigint, n: bigint, v: \"%[1]s\", o: \"nullable %[1]s\", d: \"nullable %[1]s\"}}\n", c.column)
	topics.WriteString(`  plain:
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 1d}
    events:
      Put: {type: put, fields: {id: int64, n: int64, v: TYPE, o: optional TYPE, d: {type: optional TYPE, path: deep.d}}, write: [{upsert: plain, if_newer: n}]}
      Rows: {type: rows, fields: {rows: list(Row)}, write: [{upsert: plain, each: rows, if_newer: n}]}
      Changed:
        type: changed
        fields: {id: int64, n: int64, v: TYPE, o: optional TYPE, d: {type: optional TYPE, path: deep.d}}
        write: [{update: plain, set: {v: v, o: o, d: d, n: n}, if_newer: n}]
      Handled: {type: handled, fields: {v: TYPE, o: optional TYPE, rows: list(Row)}, handle: true}
      Both: {type: both, fields: {color: Color, thing: Thing}, handle: true}
`)
	if !c.list {
		topics.WriteString("      Headers: {type: headers, fields: {h: {type: TYPE, header: h}, o: {type: optional TYPE, header: o}}, handle: true}\n")
	}
	if c.guard {
		fmt.Fprintf(&tables, "  newest: {primary_key: [id], columns: {id: bigint, v: \"%s\"}}\n", c.column)
		topics.WriteString("      Newest: {type: newest, fields: {id: int64, v: TYPE}, write: [{upsert: newest, if_newer: v}]}\n" +
			"      Newer: {type: newer, fields: {id: int64, v: TYPE}, write: [{update: newest, set: {v: v}, if_newer: v}]}\n")
	}
	if c.key {
		c.keyed(&tables, &topics)
	}
	return "version: 1\nconsumer: c\npackage: p\ntypes:\n  Color: {enum: [red, blue]}\n  Thing: {fields: {a: int32, b: optional string}}\n" +
		strings.ReplaceAll("  Row: {fields: {id: int64, n: int64, v: TYPE, o: optional TYPE, d: optional TYPE}}\ntables:\n"+tables.String()+"topics:\n"+topics.String(), "TYPE", c.field)
}

// keyed adds what finds rows: primary and foreign keys, where, the record key and the
// idempotency key.
func (c combination) keyed(tables, topics *strings.Builder) {
	fmt.Fprintf(tables, "  parents: {primary_key: [v], columns: {v: \"%s\", n: bigint}}\n", c.column)
	fmt.Fprintf(tables, "  pairs: {primary_key: [v, id], columns: {v: \"%s\", id: bigint}}\n", c.column)
	fmt.Fprintf(tables, `  children:
    primary_key: [v, id]
    columns: {v: "%[1]s", id: bigint, o: "nullable %[1]s", second: nullable bigint}
    foreign_keys:
      - {columns: [v], references: parents, on_delete: cascade}
      - {columns: [o], references: parents, on_delete: set_null}
      - {columns: [o, second], references: pairs, on_delete: set_null}
`, c.column)
	topics.WriteString(`  keyed:
    record_key: {v: TYPE}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 1d}
    events:
      Made: {type: made, fields: {n: int64}, write: [{upsert: parents}]}
      Paired: {type: paired, fields: {id: int64}, write: [{upsert: pairs}]}
      Unpaired: {type: unpaired, fields: {id: int64}, write: [{delete: pairs}]}
      Born: {type: born, fields: {id: int64, o: optional TYPE, second: optional int64}, write: [{upsert: children}]}
      Moved: {type: moved, fields: {id: int64, o: optional TYPE, second: optional int64}, write: [{update: children, set: {o: o, second: second}}]}
      Swept: {type: swept, write: [{delete: children, where: {v: v}, many: true}]}
      All: {type: all, fields: {rows: list(Row)}, write: [{upsert: children, each: rows, set: {v: v, o: each.o, second: {each: position}}}]}
      Some: {type: some, fields: {vs: list(TYPE)}, write: [{insert: parents, each: vs, set: {v: each, n: {value: 1}}, if_exists: skip}]}
      Gone: {type: gone, write: [{delete: parents}]}
`)
	if c.column == "text" { // rows that values of two types name
		topics.WriteString("      Texted: {type: texted, fields: {id: int64, o: optional string, second: optional int64}, write: [{upsert: children}]}\n")
	}
	topics.WriteString(`  known:
    record_key: {v: {type: TYPE, path: v}, w: {type: TYPE, path: deep.w}}
    event_type: {path: type}
    idempotency_key: {source: [v, w], window: 1d}
    events:
      Known: {type: known, fields: {o: optional TYPE, x: {type: TYPE, path: v}}, handle: true}
      Told: {type: told, fields: {o: {type: optional TYPE, header: h}}, idempotency_key: {source: v, window: 1d, compare: [o, w]}, handle: true}
`)
}

// TestEveryTypeInEveryUseCompiles: generated code compiles whatever a value is for.
func TestEveryTypeInEveryUseCompiles(t *testing.T) {
	kinds := map[model.Kind]bool{}
	for _, c := range combinations {
		t.Run(c.field+" in "+c.column, func(t *testing.T) {
			s := load(t, c.spec())
			kinds[s.Topics[0].Events[0].Fields[2].Type.Kind] = true
			typeCheck(t, rendered{Service: s, files: render(t, s)})
		})
	}
	for kind := model.String; kind <= model.List; kind++ {
		if !kinds[kind] {
			t.Errorf("no combination has a field of kind %d", kind)
		}
	}
}
