package generator

import (
	"cmp"
	"fmt"
	"slices"

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
			u.warnOfRows(c)
			u.warnOfLocks(c)
		}
	}
}

// warnOfRows warns of a migration that fails if the rows that are there do not allow it (W920).
func (u *unit) warnOfRows(c state.TableChange) {
	switch c.Kind {
	case state.NewUnique:
		u.problems.Add(u.position(c), "W920", c.Text+": its migration fails if two rows have equal values there",
			"look for such rows first: GROUP BY its columns HAVING count(*) > 1")
	case state.NewForeignKey:
		u.problems.Add(u.position(c), "W920", c.Text+": its migration fails if a row has no parent",
			"look for such rows first; and from now on an event whose row comes before its parent is a dead letter")
	}
}

// rowsTime is how long a migration takes that reads or writes all rows.
const rowsTime = "that takes seconds for each million rows, more with more indexes; apply it when the service may stand"

// warnOfLocks warns of a migration that others feel: they wait for longer than a moment (W921), or
// their statements fail (W922).
func (u *unit) warnOfLocks(c state.TableChange) {
	blocks := ""
	switch {
	case c.Kind == state.Renamed:
		u.problems.Add(u.position(c), "W922", c.Text+": once it is renamed, versions of the service that know the former name halt",
			"stop them, apply the migration, start the new version; none of that loses an event")
		return
	case c.Alter.Rewrites:
		u.problems.Add(u.position(c), "W921", c.Text+": its migration writes the whole table again, and nothing reads or writes it meanwhile",
			rowsTime+", or add a column of the new type by hand and fill it in portions")
		return
	case c.Kind == state.NewUnique:
		blocks = "reads or writes"
	case c.Kind == state.NewIndex:
		blocks = "writes to"
	}
	if blocks != "" && !u.format().Alone() {
		u.problems.Add(u.position(c), "W921", c.Text+": while its migration runs, nothing "+blocks+" the table",
			rowsTime+", or make it by hand with CREATE INDEX CONCURRENTLY, which others do not feel, as formats goose and golang_migrate do")
	}
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
	for _, t := range u.parsed.Tables {
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
