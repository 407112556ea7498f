package pgtable

import (
	"fmt"
	"testing"
)

// A column holds what another type can be if each of its values is one of the column's, with all
// of its digits.
func TestAColumnHoldsAnotherType(t *testing.T) {
	for _, c := range []struct {
		have, want string
		holds      bool
	}{
		{"uuid", "uuid", true}, {"text", "uuid", false}, {"timestamp", "timestamptz", false},
		{"integer", "smallint", true}, {"bigint", "smallint", true}, {"bigint", "integer", true},
		{"smallint", "integer", false}, {"integer", "bigint", false}, {"numeric", "integer", false},
		{"text", "varchar(5)", true}, {"varchar(5)", "varchar(5)", true}, {"varchar(6)", "varchar(5)", true}, {"varchar(4)", "varchar(5)", false}, {"varchar(5)", "text", false},
		{"text", "char(2)", true}, {"varchar(2)", "char(2)", true}, {"varchar(1)", "char(2)", false}, {"char(3)", "char(2)", false}, {"char(3)", "varchar(2)", false},
		{"numeric", "numeric(10,2)", true}, {"numeric(10,2)", "numeric", false}, {"numeric(10,2)", "numeric(10,2)", true},
		{"numeric(12,2)", "numeric(10,2)", true}, {"numeric(11,3)", "numeric(10,2)", true}, {"numeric(10,3)", "numeric(10,2)", false},
		{"numeric(12,1)", "numeric(10,2)", false}, {"numeric(6)", "numeric(5,0)", true}, {"numeric(4)", "numeric(5)", false},
		{"text", "numeric(5,2)", false}, {"integer", "numeric(5)", false},
	} {
		if got := holds(c.have, c.want); got != c.holds {
			t.Errorf("%s holds %s: %v", c.have, c.want, got)
		}
	}
}

// The tables of the runtime are known by their names, those of keys by their number, and that of
// an outbox is the team's. What a database lacks of them is said with the migrations that it
// needs.
func TestTablesOfTheRuntime(t *testing.T) {
	for name, want := range map[string]bool{"idem_ledger": true, "idem_keys": true, "idem_keys_7": true, "idem_process": true, "idem_schema": true, "idem_outbox": false, "idem_other": false, "orders": false} {
		if ofRuntime(name) != want {
			t.Errorf("%s is one: %v", name, !want)
		}
	}
	const text = "the database lacks tables of the runtime that this service needs, or has older ones: apply, in their order, all migrations up to those whose names end with "
	want := map[string]int{"core": 2, "keys": 1}
	for files, have := range map[string]map[string]int{
		"": {"core": 2, "keys": 3}, "_idem_core_2.sql": {"core": 1, "keys": 1}, "_idem_keys_1.sql": {"core": 2}, "_idem_core_2.sql, _idem_keys_1.sql": {},
	} {
		d := Outdated(have, want)
		if (d == nil) != (files == "") || d != nil && d.Err().Error() != text+files {
			t.Errorf("%v: %v, want %s", have, d, files)
		}
	}
	if got := fmt.Sprint(Join([]Difference{{"a", "b"}, {"c", "d"}})); got != "&{a; c b; d}" || Join(nil) != nil {
		t.Errorf("joined: %s", got)
	}
	const distributed = "&{the runtime's table public.t is a table of Citus (pg_dist_partition lists it): its rows may be on other servers, which do not commit atomically with the position, so events may be lost, or miss rows of earlier events " +
		"SELECT undistribute_table('public.t'), or use a database without Citus}"
	if got := fmt.Sprint(ofCitus("the runtime's table", Part{"public.t", Citus})); got != distributed {
		t.Errorf("%s, want %s", got, distributed)
	}
	if d := Stored(Part{"public.t", Citus}); d == nil || d.Text[:len("table public.t is a table of Citus")] != "table public.t is a table of Citus" || Stored(Part{"public.t", "other"}) != nil {
		t.Errorf("stored: %v", d)
	}
}

// Types have the words of a spec where it has one, also if the server quotes their names.
func TestTypesHaveTheWordsOfASpec(t *testing.T) {
	for text, want := range map[string]string{
		"integer": "integer true", "character varying": "text true", `"integer"`: "integer true", `"char"`: `"char" false`, "timestamp with time zone": "timestamptz true",
		"integer[]": "integer array true", "character varying[]": "character varying[] false", "bytea[]": "bytea[] false", "jsonb[]": "jsonb[] false", "unknown[]": "unknown[] false",
		"numeric(10,2)": "numeric(10,2) true", "numeric(2,3)": "numeric(2,3) false", "numeric(2,2)": "numeric(2,2) true", "numeric(5)": "numeric(5) true",
		"character varying(5)": "varchar(5) true", "character(2)": "char(2) true", "bit(3)": "bit(3) false",
	} {
		c := Column{}
		c.Base.Text, c.Base.Schema = text, "pg_catalog"
		if c.name(); fmt.Sprint(c.Type, " ", c.Known) != want {
			t.Errorf("%s: %s %v, want %s", text, c.Type, c.Known, want)
		}
	}
	for of, want := range map[[3]string]string{
		{"kind", "public", "kind"}: "named(public.kind) true", {"kind[]", "public", "_kind"}: "kind[] false", {`"Kind"`, "public", "Kind"}: "named(public.Kind) false", {"kind", "My", "kind"}: "named(My.kind) false",
	} {
		c := Column{}
		c.Base.Text, c.Base.Schema, c.Base.Name = of[0], of[1], of[2]
		if c.name(); fmt.Sprint(c.Type, " ", c.Known) != want {
			t.Errorf("%s: %s %v, want %s", of, c.Type, c.Known, want)
		}
	}
}
