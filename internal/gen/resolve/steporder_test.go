package resolve

import (
	"fmt"
	"strings"
	"testing"
)

// TestStepOrder: the steps of an event may run one by one, so each must find its parents
// written and its children gone. The text is what is wrong with which table; "" = accepted.
func TestStepOrder(t *testing.T) {
	const tables = `
  parents: {primary_key: [id], columns: {id: uuid, up: nullable uuid}, foreign_keys: [{columns: [up], references: parents}]}
  children: {primary_key: [id], columns: {id: uuid, up: nullable uuid, n: bigint}, foreign_keys: [{columns: [up], references: parents, on_delete: %s}]}
  others: {primary_key: [id], columns: {id: uuid, up: nullable uuid}, foreign_keys: [{columns: [up], references: children}]}
  dated: {primary_key: [id], columns: {id: uuid, up: {type: uuid, default: gen_random_uuid()}}, foreign_keys: [{columns: [up], references: parents}]}
`
	const parent, child = "{insert: parents, clear: [up]}", "{upsert: children, set: {up: id}}"
	for name, c := range map[string]struct{ onDelete, steps, want string }{
		"parent first":          {"restrict", parent + ", " + child, ""},
		"child first":           {"restrict", child + ", " + parent, `"children" are written before their parents in "parents"`},
		"between two parents":   {"restrict", parent + ", " + child + ", {upsert: parents, clear: [up]}", `"children" are written before their parents in "parents"`},
		"update to new parent":  {"restrict", "{update: children, set: {up: id}}, " + parent, `"children" are written before their parents in "parents"`},
		"default names it":      {"restrict", "{insert: dated, leave: [up]}, " + parent, `"dated" are written before their parents in "parents"`},
		"update of the rest":    {"restrict", "{update: children, set: {n: n}}, " + parent, ""},
		"child without parent":  {"restrict", "{upsert: children, clear: [up]}, " + parent, ""},
		"parent is only marked": {"restrict", child + ", {update: parents, clear: [up]}", ""},
		"itself":                {"restrict", "{insert: parents, set: {up: id}}, {upsert: parents, set: {up: id}}", ""},

		"delete children first":   {"restrict", "{delete: children}, {delete: parents}", ""},
		"delete parents first":    {"restrict", "{delete: parents}, {delete: children}", `"parents" are deleted before their children in "children"`},
		"children go with them":   {"cascade", "{delete: parents}, {delete: children}", ""},
		"children are let go":     {"set_null", "{delete: parents}, {delete: children}", ""},
		"children of those":       {"cascade", "{delete: parents}, {delete: others}", `"parents" are deleted before their children in "others"`},
		"no children of those":    {"set_null", "{delete: parents}, {delete: others}", ""},
		"unlinked later":          {"restrict", "{delete: parents}, {update: children, clear: [up]}", `"parents" are deleted before the update of "children", which may refer to them until then`},
		"overwritten later":       {"restrict", "{delete: parents}, {upsert: children, clear: [up]}", `"parents" are deleted before the upsert of "children", which may refer to them until then`},
		"unlinked before":         {"restrict", "{update: children, clear: [up]}, {delete: parents}", ""},
		"updated, not unlinked":   {"restrict", "{delete: parents}, {update: children, set: {n: n}}", ""},
		"inserted after a delete": {"restrict", "{delete: parents}, {insert: children, clear: [up]}", ""},
	} {
		event := "      E: {type: e, fields: {n: int64}, handle: true, write: [" + c.steps + "]}\n"
		got := printed(t, "s", []byte(graph(fmt.Sprintf(tables, c.onDelete), event)))
		switch {
		case c.want == "" && got != "":
			t.Errorf("%s: refused:\n%s", name, got)
		case c.want != "" && (strings.Count(got, ": E") != 1 || !strings.Contains(got, `E514: event "E": rows of `+c.want+"\n")):
			t.Errorf("%s: want %s, got:\n%s", name, c.want, got)
		}
	}
}
