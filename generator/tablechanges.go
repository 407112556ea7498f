package generator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/sqlcode"
	"github.com/idemgen/idemgen/generator/state"
	"github.com/idemgen/idemgen/schema"
)

// tableChanges finds out what migrations have to do. What none is written for becomes E607, and
// what is not over at once, or may fail, a warning.
func (u *unit) tableChanges() {
	for _, c := range state.TableChanges(u.old, u.service) {
		switch {
		case slices.ContainsFunc(c.Subjects(), u.byHand):
		case c.Kind == state.Refused:
			u.problems.Add(u.position(c), "E607", c.Text, u.wayOut(c))
		default:
			u.changes = append(u.changes, c)
			for _, w := range warnings(c, u.format()) {
				u.problems.Add(u.position(c), w.code, w.text, w.hint)
			}
		}
	}
}

// felt is a warning of what a migration does to others, or needs of them.
type felt struct{ code, text, hint string }

// rowsTime is how long a migration takes that reads or writes all rows.
const rowsTime = "that takes seconds for each million rows, more with more indexes; apply it when the service may stand"

// warnings are what to know before a migration for the change is applied: it fails if the rows
// that are there do not allow it (W920), others wait for longer than a moment (W921), or their
// statements fail (W922).
func warnings(c state.TableChange, format sqlcode.Format) (all []felt) {
	add := func(code, text, hint string) { all = append(all, felt{code, c.Text + ": " + text, hint}) }
	blocks := func(what string) {
		if !format.Alone() {
			add("W921", "while its migration runs, nothing "+what+" the table",
				rowsTime+", or make it by hand with CREATE INDEX CONCURRENTLY, which others do not feel, as formats goose and golang_migrate do")
		}
	}
	switch c.Kind {
	case state.NewUnique:
		add("W920", "its migration fails if two rows have equal values there", "look for such rows first: GROUP BY its columns HAVING count(*) > 1")
		blocks("reads or writes")
	case state.NewForeignKey:
		add("W920", "its migration fails if a row has no parent",
			"look for such rows first; and from now on an event whose row comes before its parent is a dead letter")
	case state.NewIndex:
		blocks("writes to")
	case state.Renamed:
		add("W922", "once it is renamed, versions of the service that know the former name halt",
			"stop them, apply the migration, start the new version; none of that loses an event")
	}
	if c.Alter.Rewrites {
		add("W921", "its migration writes the whole table again, and nothing reads or writes it meanwhile",
			rowsTime+", or add a column of the new type by hand and fill it in portions")
	}
	return all
}

// wayOut says how a change is made that idemgen writes no migration foc.
func (u *unit) wayOut(c state.TableChange) string {
	renamed := ""
	if c.Gone && c.At.Column == "" {
		renamed = " (after a rename also a line for the new table)"
	} else if c.Gone {
		renamed = " (after a rename also a line for the new column)"
	}
	dir := u.folder.Show(u.service.Migrations.Dir)
	if u.ledger.mixed {
		dir = "what idemgen wrote in " + dir
	}
	return fmt.Sprintf("%s in a migration of your own that has the line %q%s, then run generate again; if the migrations were never applied anywhere, delete %s and %s and run generate again",
		c.Advice, byHandMark+c.Subject(), renamed, dir, u.folder.Show(state.File))
}

// byHand reports whether a migration of the team's own says that it makes the change, and
// notes that migration once.
func (u *unit) byHand(subject string) bool {
	file := u.ledger.byHand[subject]
	if m := (state.Migration{Name: file, Sum: state.ByHand}); file != "" && !slices.Contains(u.next.Migrations, m) {
		u.next.Migrations = append(u.next.Migrations, m)
	}
	return file != ""
}

// position is where the spec speaks of what is refused: the column, else its table, else
// the key "tables", else the first line.
func (u *unit) position(c state.TableChange) schema.Pos {
	at := u.parsed.TablesKey
	for _, t := range tablesOf(u.parsed) {
		if t.Name.Value != c.At.Table {
			continue
		}
		at = t.Name.Pos
		for _, column := range t.Columns {
			if column.Name.Value == c.At.Column {
				at = column.Name.Pos
			}
		}
	}
	return cmp.Or(at, schema.Pos{Line: 1, Col: 1, Width: 1})
}

// tablesOf are those of the spec, then those of libraries.
func tablesOf(spec *schema.Spec) (all []*schema.Table) {
	for _, f := range spec.Reached() {
		all = append(all, f.Tables...)
	}
	return all
}
