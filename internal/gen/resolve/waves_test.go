package resolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// facts writes what a wave needs to know of a step.
func facts(st *model.Step) string {
	out := st.Verb + st.Table.GoName
	if st.Collapse {
		out += " collapse"
	}
	if st.Whole {
		out += " whole"
	}
	for _, c := range st.Cascades {
		out += " cascades:" + c.Name
	}
	for _, r := range st.Reads {
		out += fmt.Sprintf(" reads:%s/%d", r.Table.Name, len(r.Values))
	}
	return out
}

func factsOf(topic *model.Topic) string {
	var out []string
	for _, st := range topic.Flush {
		out = append(out, facts(st))
	}
	return strings.Join(out, "\n")
}

// TestWrites: the order of statements, and which rows and tables each one touches.
func TestWrites(t *testing.T) {
	for _, c := range []struct{ spec, topic, want string }{
		{"orders_minimal", "orders.v1", "upsertOrders collapse"},
		{"offset_ledger", "orders", "insertOrders"},
		{"kitchen_sink", "shop.orders.v1", `
upsertOrders reads:customers/1
updateOrders
updateOrders
upsertOrderLines reads:orders/2
updateOrderLines whole
deleteOrderLines
deleteOrders cascades:order_lines`},
		// e-mail addresses are unique, and an erased customer's orders stay without one
		{"kitchen_sink", "shop.customers", `
upsertCustomers whole
updateCustomers
updateCustomers
deleteCustomers whole cascades:orders`},
		{"kitchen_sink", "stock-levels", "upsertStock collapse"},
		{"kitchen_sink", "stock.moves", "insertMovements whole"},
		{"kitchen_sink", "newsletter.subscriptions", "upsertNewsletter whole\ndeleteNewsletter whole"},
	} {
		if got := factsOf(topicOf(t, acceptedSpec(t, c.spec), c.topic)); got != strings.TrimSpace(c.want) {
			t.Errorf("%s %s: got\n%s\nwant\n%s", c.spec, c.topic, got, strings.TrimSpace(c.want))
		}
	}
}

// graph is a spec with tables that refer to each other, and one step on each.
func graph(tables, write string) string {
	return `version: 1
consumer: graph
package: graph
tables:
` + tables + `
topics:
  t:
    record_key: {id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: key}, window: 1d}
    event_type: {header: type}
    events:
` + write
}

// TestForeignKeys: parents are written first and deleted last, cycles do not hang, and
// a delete names every table that goes with it.
func TestForeignKeys(t *testing.T) {
	table := func(name, fks string) string {
		return fmt.Sprintf("  %s: {primary_key: [id], columns: {id: uuid, up: nullable uuid}, foreign_keys: [%s]}\n", name, fks)
	}
	fk := func(parent, onDelete string) string {
		return fmt.Sprintf("{columns: [up], references: %s, on_delete: %s}", parent, onDelete)
	}
	write := ""
	for i, step := range []string{"delete: a", "delete: b", "delete: c", "update: a\n            clear: [up]", "insert: b\n            clear: [up]", "upsert: c\n            set: {up: id}", "insert: a\n            set: {up: {value: 7d3f6a52-0c1e-4b7e-9a53-5b0f4a1f6c11}}"} {
		write += fmt.Sprintf("      E%d:\n        type: e%d\n        write:\n          - %s\n", i, i, step)
	}
	for name, c := range map[string]struct{ tables, want string }{
		"chain": {table("a", fk("b", "cascade")) + table("b", fk("c", "cascade")) + table("c", ""), `
upsertC
insertB
insertA reads:b/1
updateA
deleteA
deleteB cascades:a
deleteC cascades:a cascades:b`},
		"set null ends the chain": {table("a", fk("b", "cascade")) + table("b", fk("c", "set_null")) + table("c", ""), `
upsertC
insertB
insertA reads:b/1
updateA
deleteA
deleteB cascades:a
deleteC cascades:b`},
		"itself": {table("a", fk("a", "cascade")) + table("b", fk("b", "restrict")) + table("c", ""), `
insertA reads:a/1
updateA
insertB
upsertC
deleteC
deleteB
deleteA cascades:a`},
		"cycle": {table("a", fk("b", "cascade")) + table("b", fk("c", "restrict")) + table("c", fk("a", "set_null")), `
upsertC reads:a/1
insertB
insertA reads:b/1
updateA
deleteA cascades:c
deleteB cascades:a cascades:c
deleteC`},
	} {
		s := accept(t, name, []byte(graph(c.tables, write)))
		got := factsOf(s.Topics[0])
		got = strings.ReplaceAll(got, "upsertC collapse", "upsertC") // see TestCollapse
		if got != strings.TrimSpace(c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, strings.TrimSpace(c.want))
		}
	}
}

// TestCollapse: equal rows collapse only where no other statement could see the
// difference.
func TestCollapse(t *testing.T) {
	const plain = "  a: {primary_key: [id], columns: {id: uuid, n: bigint}}\n"
	upsert := func(i int, table string) string {
		return fmt.Sprintf("      E%d: {type: e%d, fields: {n: int64}, write: [{upsert: %s}]}\n", i, i, table)
	}
	keyed := func(typ string) string {
		return "      E: {type: e, fields: {v: int64, n: int64, k: " + typ + "}, write: [{upsert: a, if_newer: v}]}\n"
	}
	for name, c := range map[string]struct {
		tables, write string
		want          bool
	}{
		"alone":           {plain, upsert(1, "a"), true},
		"char key":        {"  a: {primary_key: [k], columns: {k: char(36), n: bigint, v: bigint}}\n", keyed("string"), true},
		"numeric key":     {"  a: {primary_key: [n, k], columns: {k: numeric, n: bigint, v: bigint}}\n", keyed("decimal"), false},
		"scaled key":      {"  a: {primary_key: [k], columns: {k: \"numeric(9,2)\", n: bigint, v: bigint}}\n", keyed("decimal"), false},
		"key of the user": {"  a: {primary_key: [k], columns: {k: named(public.kind), n: bigint, v: bigint}}\n", keyed("Kind") + "types:\n  Kind: {enum: [a, b]}\n", false},
		"two steps":       {plain, upsert(1, "a") + upsert(2, "a"), false},
		"another table":   {plain + "  b: {primary_key: [id], columns: {id: uuid, n: bigint}}\n", upsert(1, "a") + upsert(2, "b"), true},
		"parent":          {plain + "  b: {primary_key: [id], columns: {id: uuid, n: bigint}, foreign_keys: [{columns: [id], references: a}]}\n", upsert(1, "a") + upsert(2, "b"), false},
		"unwritten child": {plain + "  b: {primary_key: [id], columns: {id: uuid, n: bigint}, foreign_keys: [{columns: [id], references: a}]}\n", upsert(1, "a"), true},
		"child":           {"  a: {primary_key: [id], columns: {id: uuid, n: bigint}, foreign_keys: [{columns: [id], references: b}]}\n  b: {primary_key: [id], columns: {id: uuid}}\n", upsert(1, "a"), false},
		"unique":          {"  a: {primary_key: [id], columns: {id: uuid, n: bigint}, unique: [[n]]}\n", upsert(1, "a"), false},
	} {
		s := accept(t, name, []byte(graph(c.tables, c.write)))
		st := s.Topics[0].Events[0].Steps[0]
		if st.Collapse != c.want {
			t.Errorf("%s: collapse %v", name, st.Collapse)
		}
	}
}

// TestWhole: a step writes the whole table unless its values tell the row.
func TestWhole(t *testing.T) {
	for name, c := range map[string]struct {
		columns, step string
		want          bool
	}{
		"by key":          {"{id: uuid, n: bigint}", "{delete: a}", false},
		"numeric key":     {"{id: numeric, n: bigint}", "{insert: a, set: {id: {value: 1.0}}}", true},
		"insert":          {"{id: uuid, n: bigint}", "{insert: a}", false},
		"made by db":      {"{id: {type: bigint, identity: true}, n: bigint}", "{insert: a, leave: [id]}", true},
		"many":            {"{id: uuid, n: bigint}", "{delete: a, where: {n: n, id: id}, many: true}", true},
		"update of other": {"{id: uuid, n: bigint, m: nullable text}", "{update: a, clear: [m]}", false},
	} {
		write := "      E: {type: e, fields: {n: int64}, handle: true, write: [" + c.step + "]}\n"
		s := accept(t, name, []byte(strings.Replace(graph("  a: {primary_key: [id], columns: "+c.columns+"}\n", write), "assume: [ordered]", "assume: [ordered, unique]", 1)))
		if got := s.Topics[0].Flush[0].Whole; got != c.want {
			t.Errorf("%s: whole %v", name, got)
		}
	}
	write := "      E: {type: e, fields: {n: int64}, write: [{update: a, set: {n: n}}]}\n"
	s := accept(t, "unique", []byte(graph("  a: {primary_key: [id], columns: {id: uuid, n: bigint}, unique: [[n]]}\n", write)))
	if !s.Topics[0].Flush[0].Whole {
		t.Error("an update of a unique column may free its value")
	}
	write = "      E: {type: e, fields: {n: int64}, write: [{insert: a}]}\n"
	s = accept(t, "unique", []byte(graph("  a: {primary_key: [id], columns: {id: uuid, n: bigint}, unique: [[n]]}\n", write)))
	if s.Topics[0].Flush[0].Whole {
		t.Error("an insert frees no value")
	}
}

// A step whose rows one partition alone changes needs no locks: the topic orders them, and no
// other topic changes rows of the table.
func TestStepsWhoseRowsOtherPartitionsChange(t *testing.T) {
	const spec = `version: 1
consumer: c
package: p
tables:
  mine: {primary_key: [id], columns: {id: integer, n: bigint}}
  hot: {primary_key: [other], columns: {other: integer, n: bigint}}
  both: {primary_key: [id], columns: {id: integer, n: bigint}}
  made: {primary_key: [id], columns: {id: integer, n: bigint}}
topics:
  first:
    record_key: {id: int32}
    assume: [ordered]
    idempotency_key: {source: {header: id}, window: 8d}
    events:
      Counted:
        fields: {n: int64, other: int32}
        write:
          - {add: mine, plus: {n: n}}
          - {add: hot, plus: {n: n}}
          - {add: both, plus: {n: n}}
          - {add: made, plus: {n: n}}
  second:
    record_key: {id: int32}
    assume: [ordered]
    idempotency_key: {source: {header: id}, window: 8d}
    events:
      CountedToo:
        fields: {n: int64}
        write:
          - {add: both, plus: {n: n}}
          - {insert: made}
`
	s := accept(t, "idemgen.yaml", []byte(spec))
	var got []string
	for _, topic := range s.Topics {
		for _, st := range topic.Flush {
			if st.Contended {
				got = append(got, topic.Name+" "+st.Table.Name)
			}
		}
	}
	if want := "first hot, first both, second both"; strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
}
