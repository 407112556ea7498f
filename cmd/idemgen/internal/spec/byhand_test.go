package spec

import (
	"os"
	"strings"
	"testing"
)

// noted is a spec whose column note can be renamed.
var noted = strings.NewReplacer("      status: text\n", "      status: text\n      note: nullable text\n",
	"set: {status: {value: placed}}", "set: {status: {value: placed}}\n            leave: [note]").Replace(spec)

// A column or table that a migration by hand has made gets no second one.
func TestRenamedByHand(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": noted + "  \n"})
	must(t, "generate")
	edit(t, "idemgen.yaml", "note: nullable", "remark: nullable")
	edit(t, "idemgen.yaml", "leave: [note]", "leave: [remark]")
	refused(t, `drop or rename it in a migration of your own that has the line "-- idemgen:by-hand orders.note" `+
		`(after a rename, also a line for the new column), then run generate again`, "generate")
	write(t, "migrations/0004_rename.sql", "-- idemgen:by-hand orders.note\n-- idemgen:by-hand orders.remark\n"+
		"ALTER TABLE orders RENAME note TO remark;\n")
	if out := must(t, "generate"); strings.Contains(out, "migrations/") {
		t.Errorf("a migration was written:\n%s", out)
	}
	must(t, "check")
	if s := read(t, "idem.state.yaml"); !strings.Contains(s, "      remark: nullable text\n") || strings.Count(s, "  0004_rename.sql: by hand\n") != 1 {
		t.Error(s)
	}
	// Of two new columns only the one that is not there yet is added.
	edit(t, "idemgen.yaml", "      remark:", "      made: nullable text\n      added: nullable text\n      remark:")
	edit(t, "idemgen.yaml", "leave: [remark]", "leave: [remark, made, added]")
	write(t, "migrations/0005_made.sql", "-- idemgen:by-hand orders.made\n")
	must(t, "generate")
	if sql := read(t, "migrations/0006_order_projector.sql"); !strings.Contains(sql, "added") || strings.Contains(sql, "made") {
		t.Error(sql)
	}
}

func TestTableRenamedByHand(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	write(t, "idemgen.yaml", strings.NewReplacer("\n  orders:\n", "\n  sales:\n", "upsert: orders", "upsert: sales", "update: orders", "update: sales").Replace(spec))
	refused(t, "(after a rename, also a line for the new table)", "generate")
	write(t, "migrations/0004_rename.sql", "-- idemgen:by-hand orders\n-- idemgen:by-hand sales\nALTER TABLE orders RENAME TO sales;\n")
	if out := must(t, "generate"); strings.Contains(out, "migrations/") {
		t.Errorf("a migration was written:\n%s", out)
	}
	must(t, "check")
}

// Who keeps migrations of other tools in the folder is not told to delete them.
func TestNotAllMigrationsAreOurs(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec, "migrations/0001_extensions.sql": "CREATE EXTENSION citext;\n"})
	must(t, "generate")
	edit(t, "idemgen.yaml", "total: numeric(12,2)", "total: numeric(10,2)")
	refused(t, "delete what idemgen wrote in migrations and idem.state.yaml and run generate again", "generate")
	if err := os.Remove("migrations/0001_extensions.sql"); err != nil {
		t.Fatal(err)
	}
	refused(t, "delete migrations and idem.state.yaml and run generate again", "generate")
}

// A line by hand that names nothing is told, with its place: what it was to say would be lost.
func TestByHandOfAnUnknownName(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": noted})
	must(t, "generate")
	edit(t, "idemgen.yaml", "note: nullable text", "note: nullable varchar(9)")
	write(t, "migrations/0004_note.sql", "ALTER TABLE orders ALTER COLUMN note TYPE varchar(9);\n-- idemgen:by-hand orders.nota\n-- idemgen:by-hand\n")
	refused(t, `migrations/0004_note.sql:2: "-- idemgen:by-hand orders.nota" names no table and no column that idemgen.yaml has or had: did you mean "orders.note"?`, "generate")
	refused(t, `migrations/0004_note.sql:3: "-- idemgen:by-hand" names no table and no column that idemgen.yaml has or had: write table, or table.column, by their names in the spec`, "generate")
	write(t, "migrations/0004_note.sql", "-- idemgen:by-hand orders.note\nALTER TABLE orders ALTER COLUMN note TYPE varchar(9);\n")
	must(t, "generate")
	// Of a file that is recorded the lines do not count again, whatever becomes of their names.
	write(t, "idemgen.yaml", spec)
	write(t, "migrations/0005_no_note.sql", "-- idemgen:by-hand orders.note\nALTER TABLE orders DROP note;\n")
	must(t, "generate")
	must(t, "check")
}
