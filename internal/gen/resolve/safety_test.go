package resolve

import (
	"fmt"
	"strings"
	"testing"
)

// TestSafe: what is safe is accepted, and the same without what makes it safe is refused with
// the code of its row.
func TestSafe(t *testing.T) {
	const (
		a       = "  a: {primary_key: [id], columns: {id: uuid, n: bigint, state: nullable text}}\n  g: {primary_key: [id], columns: {id: uuid, n: bigint, state: text, gone: boolean}}\n"
		key     = "{source: {header: key}, window: 1d}"
		offset  = "{source: {record: offset}}"
		ordered = "    record_key: {id: uuid}\n    assume: [ordered]\n"
		unique  = "    assume: [unique]\n"
		id      = "id: uuid, "
	)
	event := func(name, fields, rest string) string {
		return fmt.Sprintf("      %s: {type: %s, fields: {%s}, %s}\n", name, strings.ToLower(name), fields, rest)
	}
	topic := func(name, head, key, events string) string {
		return fmt.Sprintf("  %s:\n%s    idempotency_key: %s\n    event_type: {header: type}\n    events:\n%s", name, head, key, events)
	}
	insert := event("Made", id+"n: int64", "write: [{insert: a, clear: [state]}]")
	constant := func(more string) string {
		return event("Closed", "id: uuid", "write: [{update: a, set: {state: {value: closed}}"+more+"}]")
	}
	guarded := func(name string) string {
		return event(name, id+"n: int64", "write: [{update: a, set: {n: n}, if_newer: n}]")
	}
	stated := event("E", id+"n: int64, s: string", "write: [{upsert: a, set: {state: s}, if_newer: n}]")
	for name, c := range map[string]struct{ topics, refused string }{
		"insert anywhere":                {topic("t", "", key, insert), ""},
		"insert by offset, key from it":  {topic("t", "", offset, insert), ""},
		"handle by offset":               {topic("t", "", offset, event("E", "x: string", "handle: true")), "E501"},
		"handle by offset, stated":       {topic("t", unique, offset, event("E", "x: string", "handle: true")), ""},
		"upsert, no order":               {topic("t", "", key, event("E", id+"n: int64", "write: [{upsert: a, clear: [state]}]")), "E503"},
		"part of a row, one version":     {topic("t", "", key, stated+guarded("F")), "E503"},
		"part of a row, ordered":         {topic("t", ordered, key, stated+guarded("F")), ""},
		"mark of a row, one version":     {topic("t", "", key, stated+event("F", id+"n: int64", "write: [{update: a, set: {n: n, state: {value: gone}}, if_newer: n}]")), ""},
		"mark of a row, other column":    {topic("t", "", key, event("E", id+"n: int64, s: string", "write: [{upsert: g, set: {gone: {value: false}, state: s}, if_newer: n}]")+event("F", id+"n: int64", "write: [{update: g, set: {n: n, gone: {value: true}}, if_newer: n}]")), ""},
		"upsert, ordered":                {topic("t", ordered, key, event("E", "n: int64", "write: [{upsert: a, clear: [state]}]")), ""},
		"upsert, field equal to part":    {topic("t", ordered, key, event("E", id+"n: int64", "write: [{upsert: a, clear: [state]}]")), ""},
		"upsert, guarded":                {topic("t", "", key, event("E", id+"n: int64", "write: [{upsert: a, clear: [state], if_newer: n}]")), ""},
		"constants":                      {topic("t", "", key, constant("")), ""},
		"constants after insert":         {topic("t", "", key, insert+constant("")), ""},
		"constants after upsert":         {topic("t", "", key, event("E", id+"n: int64", "write: [{upsert: a, leave: [state], if_newer: n}]")+constant("")), ""},
		"constants, row of a version":    {topic("t", "", key, event("E", id+"n: int64", "write: [{update: a, set: {state: {value: x}}, where: {id: id, n: n}, many: true}]")+guarded("F")), "E503"},
		"constants, insert, skip":        {topic("t", "", key, insert+constant(", if_missing: skip")), "E503"},
		"constants, two writers":         {topic("t", "", key, constant("")+event("Opened", "id: uuid", "write: [{update: a, set: {state: {value: open}}}]")), "E503"},
		"now is a constant":              {topic("t", "", key, event("E", "id: uuid", "write: [{update: b, set: {at: {now: true}}}]")), ""},
		"now, two writers":               {topic("t", "", key, event("E", "id: uuid", "write: [{update: b, set: {at: {now: true}}}]")+event("F", "id: uuid, at: timestamp", "write: [{upsert: b, if_newer: at}]")), "E503"},
		"delete, no order":               {topic("t", "", key, event("E", "id: uuid", "write: [{delete: a}]")), "E504"},
		"delete, guarded, no order":      {topic("t", "", key, event("E", id+"n: int64", "write: [{delete: a, if_newer: n}]")), "E504"},
		"delete, ordered":                {topic("t", ordered, key, event("E", "id: uuid", "write: [{delete: a}]")[:0]+"      E: {type: e, write: [{delete: a}]}\n"), ""},
		"two topics, one guard":          {topic("t", "", key, guarded("A")) + topic("u", "", key, guarded("B")), ""},
		"two topics, one without":        {topic("t", "", key, guarded("A")) + topic("u", ordered, key, event("B", "n: int64", "write: [{update: a, set: {n: n}}]")), "E505"},
		"two topics, other columns":      {topic("t", "", key, guarded("A")) + topic("u", "", key, constant("")), ""},
		"insert here, update elsewhere":  {topic("t", "", key, insert) + topic("u", "", key, guarded("B")), ""},
		"delete here, insert elsewhere":  {topic("t", "", key, insert) + topic("u", ordered, key, "      E: {type: e, write: [{delete: a}]}\n"), "E504"},
		"ordered by another field":       {topic("t", strings.ReplaceAll(ordered, "{id: uuid}", "{other: uuid}"), key, event("E", id+"n: int64", "write: [{upsert: a, clear: [state]}]")), "E503"},
		"ordered, many, key in where":    {topic("t", ordered, key, event("E", "n: int64", "write: [{update: a, set: {state: {value: x}}, where: {id: id, n: n}, many: true}]")), ""},
		"upsert by the record's offset":  {topic("t", "", offset, event("E", "n: int64, o: {type: int64, record: offset}", "write: [{insert: c, set: {id: o}}]")), "E501"},
		"insert made by the database":    {topic("t", "", offset, event("E", "n: int64", "write: [{insert: d}]")), "E501"},
		"insert made by the db, stated":  {topic("t", unique, offset, event("E", "n: int64", "write: [{insert: d}]")), ""},
		"insert made by the db, but key": {topic("t", "", key, event("E", "n: int64", "write: [{insert: d}]")), ""},
	} {
		spec := "version: 1\nconsumer: safe\npackage: safe\ntables:\n" + a +
			"  b: {primary_key: [id], columns: {id: uuid, at: timestamptz}}\n" +
			"  c: {primary_key: [id], columns: {id: bigint, n: bigint}}\n" +
			"  d: {primary_key: [id], columns: {id: {type: bigint, identity: true}, n: bigint}}\n" +
			"topics:\n" + c.topics
		out := printed(t, "s", []byte(spec))
		switch {
		case c.refused == "" && out != "":
			t.Errorf("%s: refused:\n%s", name, out)
		case c.refused != "" && (strings.Count(out, ": E") == 0 || strings.Count(out, ": E") != strings.Count(out, ": "+c.refused+":")):
			t.Errorf("%s: want %s only:\n%s", name, c.refused, out)
		}
	}
}
