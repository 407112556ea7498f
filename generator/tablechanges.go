package generator

import (
	"cmp"
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// tableChanges finds out what migrations have to do. What none is written for becomes E607.
func (u *unit) tableChanges() {
	for _, c := range state.TableChanges(u.old, u.service) {
		switch {
		case u.byHand(c.Subject()):
		case c.Written():
			u.changes = append(u.changes, c)
		default:
			u.problems.Add(u.position(c), "E607", c.Text, u.wayOut(c))
		}
	}
}

// order says what a person does for a change: the SQL of it, or what to think of.
func order(c state.TableChange) string {
	switch c.Kind {
	case state.Refused:
		return c.Advice
	case state.NewUnique:
		return "write " + sqlcode.AddUnique(c.Table, c.Key)
	case state.NewForeignKey:
		return "write " + sqlcode.AddForeignKey(c.Table, *c.Foreign)
	}
	text := "write " + sqlcode.AlterColumn(c.Table, sqlcode.Alteration{Column: c.Column, Type: c.Alter.Type, Nullable: c.Alter.Nullable, Default: c.Alter.Default})
	if c.Alter.Type {
		text += " or, if the type does not take all that the former one took, add a column of it, fill it in portions, and drop the former one,"
	}
	return text
}

// wayOut says how a change is made that idemgen writes no migration for.
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
	return fmt.Sprintf("%s in a migration of your own that has the line %q%s, then run generate again; if the migrations were never applied anywhere, delete %s and %s and run generate again; if the newest alone was not, delete it and take that file back (git checkout)",
		order(c), byHandMark+c.Subject(), renamed, dir, u.folder.Show(state.File))
}

// position is where the spec speaks of what is refused: the column, else its table, else
// the key "tables", else the first line.
func (u *unit) position(c state.TableChange) syntax.Pos {
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
	return cmp.Or(at, syntax.Pos{Line: 1, Col: 1, Width: 1})
}
