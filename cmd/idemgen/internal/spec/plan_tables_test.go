package spec

import (
	"fmt"
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

// A table of others that the spec no longer has, or has less of, stays until the previous version
// has ended, which needs it. What the spec has more of is there before this version starts.
func TestPlanOfTablesOfOthers(t *testing.T) {
	const (
		others = "  others: {external: true, primary_key: [id], columns: {id: text, t: nullable varchar(20)}}\n"
		later  = "To do: drop it, if nothing else needs it, once the last process of the previous version has ended.\n"
		first  = "Idemgen does not create this table: change the database before this version starts, because it checks the table at startup.\n"
	)
	const alone = "version: 1\nconsumer: c\npackage: p\n" + "tables:\n" + others +
		"topics:\n  a.v1: {idempotency_key: {source: {header: k}, window: 1d}, events: {Seen: {handle: true}}}\n"
	for name, tc := range map[string]struct{ spec, old, new, want string }{
		"gone":          {planned, others, "", "- **compatible**: tables.others is gone. This version starts with or without it; the previous version does not start without it. " + later},
		"the last one":  {alone, "tables:\n" + others, "", "- **compatible**: tables.others is gone. This version starts with or without it; the previous version does not start without it. " + later},
		"new":           {planned, others, others + strings.Replace(others, "others", "more", 1), "- **migration by hand**: tables.more is new. " + first},
		"the first one": {strings.Replace(alone, "tables:\n"+others, "", 1), "topics:", "tables:\n" + others + "topics:", "- **migration by hand**: tables.others is new. " + first},
		"a column":      {planned, "t: nullable varchar(20)", "t: nullable varchar(20), u: nullable text", "- **migration by hand**: tables.others.columns.u is new. " + first},
		"a column is gone": {planned, ", t: nullable varchar(20)", "", "- **migration by hand**: tables.others.columns.t is gone. This version does not write the column; " +
			"the previous version does not start without it. To do: if it is NOT NULL without a default, give it one before this version starts; " + strings.TrimPrefix(later, "To do: ")},
		"a unique key is gone": {strings.Replace(planned, "[id], columns: {id: text, t: null", "[id], unique: [[t]], columns: {id: text, t: null", 1), ", unique: [[t]]", "",
			"- **compatible**: tables.others.unique is gone. This version does not check for it; the previous version does. " + later},
		"a description":    {planned, "external: true", "external: true, description: Theirs.", "- **compatible**: tables.others.description is new. Comments only; no migration is written for them.\n"},
		"others make it":   {planned, "made: {", "made: {external: true, ", "- **compatible**: tables.made.external is new. No migration changes the table from now on; earlier changes stay.\n"},
		"we make it":       {planned, "external: true, ", "", "- **migration appended**: table \"others\" is new. The previous version did not create it. To do: if the database has the table, write a migration of your own in its place that has the line \"-- idemgen:by-hand others\".\n- **compatible**: tables.others.external is gone. Migrations create and change the table from now on.\n"},
		"an awkward name":  {planned, "n: integer}", "n: integer, description: nullable text}", "- **migration appended**: column \"description\" of \"doors\" is new. Older versions continue beside it.\n"},
		"an awkward field": {planned, "at: timestamp}", "at: timestamp, description: optional string}", "- **compatible**: topics.doors.v1.events.Moved.fields.description is new. Records without it can still be read" + recompared},
	} {
		if !strings.Contains(tc.spec, tc.old) {
			t.Fatalf("%s: no %q", name, tc.old)
		}
		if got := planOf(t, tc.spec, strings.Replace(tc.spec, tc.old, tc.new, 1)); got != tc.want {
			t.Errorf("%s:\n%swant\n%s", name, got, tc.want)
		}
	}
}

// recompared is what plan adds about content.
const recompared = ". The content of event \"Moved\" of doors.v1 is defined differently: duplicates of events that were applied before are recognized, but their content is not compared.\n"

// plan says one thing of a field, also of one whose type has another name, in which not all texts
// or members of before are, and of one that is read where another one was.
func TestPlanSaysOneThingOfAField(t *testing.T) {
	const dead = "- **records still in the topic become dead letters**: event \"Moved\" of doors.v1: "
	bells := strings.NewReplacer("  Ring: {", "  Bell: {fields: {id: string, note: optional string}}\n  Ring: {", "ring: optional Ring", "ring: optional Bell").Replace(planned)
	const (
		another = "- **compatible**: types.%[2]s is new. The parts that events read were compared.\n- **compatible**: types.%[1]s is gone. The parts that events read were compared.\n"
		keep    = "Records from before this change become dead letters. To do: keep the value until the records that contain it have been read.\n"
	)
	for name, tc := range map[string]struct {
		spec     string
		replaced []string
		want     string
	}{
		"another enum": {planned, []string{"state: State", "state: Way", "State: {enum: [open, shut]}", "Way: {enum: [open]}"},
			dead + "\"shut\" is no longer a value of \"Way\". " + keep + fmt.Sprintf(another, "State", "Way")},
		"another type": {bells, []string{"ring: optional Bell", "ring: optional Gong", "Bell: {fields: {id: string, note: optional string}}", "Gong: {fields: {id: string, note: string}}"},
			dead + "field \"note\" is now required; it was not before. Records from before this change become dead letters. " +
				"To do: declare it optional or with a default until the older records have been read, or deploy this once they have.\n" + fmt.Sprintf(another, "Bell", "Gong")},
		"perhaps renamed": {planned, []string{"hand: optional string", "arm: optional string"},
			"- **records still in the topic lose values**: event \"Moved\" of doors.v1: field \"arm\" is new, and \"hand\" of the same type is gone: if it is the same field, it was renamed. " +
				"Records from before this change are read without a value that they have, or with a different one, and nothing reports it. " +
				"To do: keep the former field beside it, as docs/patterns.md shows (\"While a member is renamed\"), until the older records have been read, or deploy this once they have.\n"},
		"perhaps renamed, and required": {planned, []string{"at: timestamp}", "when: timestamp}", "at: at}", "at: when}"},
			dead + "field \"when\" is new and required, and \"at\" of the same type is gone. Records from before this change become dead letters. " +
				"To do: if it is the same field under another name, keep the former field beside it, as docs/patterns.md shows (\"While a member is renamed\"), until the older records have been read, or deploy this once they have; if it is a different field, declare it optional or with a default until then.\n" +
				"- **compatible**: topics.doors.v1.events.Moved.write changed. It applies to events from now on; existing rows stay as they are. The previous version applies events by its own steps, beside this one or after a rollback" + recompared},
		"the same place": {planned, []string{"hand: optional string", "arm: {type: optional string, path: hand}"},
			"- **Go code must change**: event \"Moved\" of doors.v1: field \"arm\" was called \"hand\". It is read at the same place; the struct's field has a different name" + recompared},
		"the same place in a type": {bells, []string{"Bell: {fields: {id: string, note: optional string}}", "Bell: {fields: {id: string, word: {type: optional string, path: note}}}"},
			"- **Go code must change**: type \"Bell\": field \"word\" was called \"note\". It is read at the same place; the struct's field has a different name" + recompared},
		// What is said of one event is not denied of the other, whose field has the same type.
		"two events": {strings.Replace(planned, "opened, effect: {if_interrupted: retry}", "opened, fields: {state: State}, effect: {if_interrupted: retry}", 1),
			[]string{"state: State", "state: Way", "State: {enum: [open, shut]}", "Way: {enum: [open]}"},
			dead + "\"shut\" is no longer a value of \"Way\". " + keep + fmt.Sprintf(another, "State", "Way")},
	} {
		if got := planOf(t, tc.spec, strings.NewReplacer(tc.replaced...).Replace(tc.spec)); got != tc.want {
			t.Errorf("%s:\n%swant\n%s", name, got, tc.want)
		}
	}
}

// What a migration by hand has made is not to be done any more, nor done by idemgen; after a
// rename older versions halt.
func TestPlanOfChangesByHand(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": noted})
	must(t, "generate")
	mustGit(t, "init", "-q", "-b", "main")
	mustGit(t, "add", "-A")
	mustGit(t, "commit", "-q", "-m", "first")
	plan := func(lacks string, want ...string) {
		t.Helper()
		code, out, stderr := run(t, "plan")
		if code != done || lacks != "" && strings.Contains(out, lacks) {
			t.Errorf("exit code %d, or %q is said:\n%s%s", code, lacks, out, stderr)
		}
		for _, line := range want {
			if !strings.Contains(out, line) {
				t.Errorf("no %q in\n%s", line, out)
			}
		}
	}
	edit(t, "idemgen.yaml", "note: nullable", "remark: nullable")
	edit(t, "idemgen.yaml", "leave: [note]", "leave: [remark]")
	plan("", `To do: drop or rename it in a migration of your own that has the line "-- idemgen:by-hand orders.note"; stop all processes before you apply it.`)
	write(t, "migrations/0004_rename.sql", "-- idemgen:by-hand orders.note\n-- idemgen:by-hand orders.remark\nALTER TABLE orders RENAME note TO remark;\n")
	renamed := []string{
		`- **migration by hand**: column "remark" of "orders" is new. 0004_rename.sql makes the change, after which a process of the previous version halts. To do: stop all processes, apply it, then start this version.`,
		`- **migration by hand**: column "note" was removed; idemgen does not drop data. 0004_rename.sql makes the change, after which a process of the previous version halts. To do: stop all processes, apply it, then start this version.`,
	}
	plan("appended", renamed...)
	must(t, "generate")
	plan("appended", renamed...)
	mustGit(t, "add", "-A")
	mustGit(t, "commit", "-q", "-m", "second")
	plan("")

	edit(t, "idemgen.yaml", "      remark:", "      made: nullable text\n      remark:")
	edit(t, "idemgen.yaml", "leave: [remark]", "leave: [remark, made]")
	edit(t, "idemgen.yaml", "total: numeric(12,2)", "total: numeric(10,2)")
	write(t, "migrations/0005_made.sql", "-- idemgen:by-hand orders.made\n-- idemgen:by-hand orders.total\n")
	plan("appended", `column "made" of "orders" is new. 0005_made.sql makes the change. To do: apply it before this version starts.`,
		`changed from numeric(12,2) to numeric(10,2). 0005_made.sql makes the change. To do: apply it before this version starts; what the previous version writes must fit it, or stop that version first.`)
	must(t, "generate")
	mustGit(t, "add", "-A")
	mustGit(t, "commit", "-q", "-m", "third")
	edit(t, "idemgen.yaml", "total: numeric(10,2)", "total: numeric(9,2)")
	plan("0005_made.sql", `make it in a migration of your own that has the line "-- idemgen:by-hand orders.total"`)
}

// A name that changes in the spec alone is no change of the database: no migration is written, and
// none is asked for.
func TestNamesThatTheDatabaseKeeps(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": strings.Replace(noted, "    primary_key: [order_id]\n", "    primary_key: [order_id]\n    unique: [[note]]\n", 1)})
	must(t, "generate")
	edit(t, "idemgen.yaml", "      note: nullable text\n", "      remark: {type: nullable text, name: note}\n")
	edit(t, "idemgen.yaml", "leave: [note]", "leave: [remark]")
	edit(t, "idemgen.yaml", "unique: [[note]]", "unique: [[remark]]")
	if out := must(t, "generate"); strings.Contains(out, "migrations/") {
		t.Errorf("a migration was written:\n%s", out)
	}
	must(t, "check")
	edit(t, "idemgen.yaml", "  orders:\n", "  sales:\n    name: orders\n")
	edit(t, "idemgen.yaml", "upsert: orders", "upsert: sales")
	edit(t, "idemgen.yaml", "update: orders", "update: sales")
	if out := must(t, "generate"); strings.Contains(out, "migrations/") {
		t.Errorf("a migration was written:\n%s", out)
	}
	must(t, "check")
	edit(t, "idemgen.yaml", "remark: {type: nullable text, name: note}", "remark: {type: nullable text, name: memo}")
	refused(t, `column "remark" of "sales" changed from nullable text name "note" to nullable text name "memo"; idemgen does not rename it`, "generate")
}
