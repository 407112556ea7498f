package spec

import (
	"strings"
	"testing"
)

// planOf returns what plan says of the change of a spec from old to new.
func planOf(t *testing.T, old, new string) string {
	t.Helper()
	module(t, map[string]string{"old.yaml": old, "new.yaml": new})
	if old == new {
		t.Fatal("nothing changed")
	}
	_, out, stderr := run(t, "plan", "old.yaml", "new.yaml")
	_, lines, _ := strings.Cut(out, ":\n\n")
	return lines + stderr
}

// A table of others that the spec no longer has, or has less of, stays until the version before has
// ended, which needs it. What the spec has more of is there before this version starts.
func TestPlanOfTablesOfOthers(t *testing.T) {
	const (
		others = "  others: {external: true, primary_key: [id], columns: {id: text, t: nullable varchar(20)}}\n"
		later  = "To do: drop it, if nothing else needs it, when the last process of the version before has ended.\n"
		first  = "Idemgen does not make this table: the database has to be so before this version starts, and it looks at its start.\n"
	)
	const alone = "version: 1\nconsumer: c\npackage: p\n" + "tables:\n" + others +
		"topics:\n  a.v1: {idempotency_key: {source: {header: k}, window: 1d}, events: {Seen: {handle: true}}}\n"
	for name, tc := range map[string]struct{ spec, old, new, want string }{
		"gone":          {planned, others, "", "- **compatible**: tables.others is gone. This version starts with it or without it; the version before does not start without it. " + later},
		"the last one":  {alone, "tables:\n" + others, "", "- **compatible**: tables.others is gone. This version starts with it or without it; the version before does not start without it. " + later},
		"new":           {planned, others, others + strings.Replace(others, "others", "more", 1), "- **migration by hand**: tables.more is new. " + first},
		"the first one": {strings.Replace(alone, "tables:\n"+others, "", 1), "topics:", "tables:\n" + others + "topics:", "- **migration by hand**: tables.others is new. " + first},
		"a column":      {planned, "t: nullable varchar(20)", "t: nullable varchar(20), u: nullable text", "- **migration by hand**: tables.others.columns.u is new. " + first},
		"a column is gone": {planned, ", t: nullable varchar(20)", "", "- **migration by hand**: tables.others.columns.t is gone. Rows of this version do not name the column; " +
			"the version before does not start without it. To do: if it is NOT NULL without a default, give it one before this version starts; " + strings.TrimPrefix(later, "To do: ")},
		"a unique key is gone": {strings.Replace(planned, "[id], columns: {id: text, t: null", "[id], unique: [[t]], columns: {id: text, t: null", 1), ", unique: [[t]]", "",
			"- **compatible**: tables.others.unique is gone. This version does not look for it; the version before does. " + later},
		"a description":    {planned, "external: true", "external: true, description: Theirs.", "- **compatible**: tables.others.description is new. Comments only; no migration is written for them.\n"},
		"others make it":   {planned, "made: {", "made: {external: true, ", "- **compatible**: tables.made.external is new. No migration changes the table from now on; what earlier ones made stays.\n"},
		"we make it":       {planned, "external: true, ", "", "- **migration appended**: table \"others\" is new. The version before did not make it. To do: if the database has the table, write a migration of your own in its place that has the line \"-- idemgen:by-hand others\".\n- **compatible**: tables.others.external is gone. Migrations make the table and its changes from now on.\n"},
		"an awkward name":  {planned, "n: integer}", "n: integer, description: nullable text}", "- **migration appended**: column \"description\" of \"doors\" is new. Older versions continue beside it.\n"},
		"an awkward field": {planned, "at: timestamp}", "at: timestamp, description: optional string}", "- **compatible**: topics.doors.v1.events.Moved.fields.description is new. Records without it can still be read.\n"},
	} {
		if !strings.Contains(tc.spec, tc.old) {
			t.Fatalf("%s: no %q", name, tc.old)
		}
		if got := planOf(t, tc.spec, strings.Replace(tc.spec, tc.old, tc.new, 1)); got != tc.want {
			t.Errorf("%s:\n%swant\n%s", name, got, tc.want)
		}
	}
}
