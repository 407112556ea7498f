package generator

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqlcode"
	"github.com/idemgen/idemgen/generator/state"
)

// altering turns the changes of the tables into one migration.
type altering struct {
	sqlcode.Migration
	err error // the first one
}

// migration returns the migration for the changes; nil if there are none.
func migration(consumer string, changes []state.TableChange) (*sqlcode.Migration, error) {
	a := &altering{}
	a.renames(changes)
	a.tables(changes)
	a.columns(changes)
	if len(a.Parts) == 0 {
		return nil, a.err
	}
	a.About = append([]string{"Consumer " + consumer + ", new here:"}, a.About...)
	return &a.Migration, a.err
}

// made adds statements, and what they make.
func (a *altering) made(statements string, err error, names ...string) {
	if a.err == nil {
		a.err = err
	}
	for _, name := range names {
		a.About = append(a.About, "  "+name)
	}
	a.Parts = append(a.Parts, statements)
}

// old is made for a table that services use.
func (a *altering) old(what, statement string) {
	a.made(statement, nil, what)
	a.OldTables = true
}

func (a *altering) renames(changes []state.TableChange) {
	for _, c := range changes {
		if c.Kind != state.Renamed {
			continue
		}
		r := c.Rename
		var statements []string
		if r.From != c.Table.InDatabase() {
			statements = append(statements, sqlcode.RenameTable(r.From, c.Table))
		}
		for _, column := range r.Columns {
			statements = append(statements, sqlcode.RenameColumn(c.Table, column.From, column.To))
		}
		for _, k := range r.Keys {
			statements = append(statements, sqlcode.RenameKey(c.Table, r.From, k.From, k.To, k.Suffix))
		}
		for _, n := range r.Numbers {
			statements = append(statements, sqlcode.RenameNumbers(c.Table, r.From, n[0], n[1]))
		}
		a.old(c.Text, strings.Join(slices.DeleteFunc(statements, func(s string) bool { return s == "" }), "\n"))
	}
}

func (a *altering) tables(changes []state.TableChange) {
	var tables []*model.Table
	var names []string
	for _, c := range changes {
		if c.Kind == state.NewTable {
			tables = append(tables, c.Table)
			names = append(names, "table "+c.Table.Name)
		}
	}
	if len(tables) > 0 {
		text, err := sqlcode.CreateTables(tables)
		a.made(text, err, names...)
		a.OldTables = a.OldTables || referToOthers(tables)
	}
}

// referToOthers reports whether a new table has a foreign key to an old one, which is locked for
// that.
func referToOthers(tables []*model.Table) bool {
	return slices.ContainsFunc(tables, func(t *model.Table) bool {
		return slices.ContainsFunc(t.ForeignKeys, func(fk model.ForeignKey) bool { return !slices.Contains(tables, fk.References) })
	})
}

// columns adds columns.
func (a *altering) columns(changes []state.TableChange) {
	for _, c := range changes {
		if c.Kind == state.NewColumn {
			text, err := sqlcode.AddColumn(c.Table, c.Column)
			if c.Column.Type.Kind == model.ColCitext && !slices.ContainsFunc(a.Parts, func(p string) bool { return strings.HasPrefix(p, sqlcode.Citext) }) {
				text = sqlcode.Citext + "\n" + text
			}
			a.made(text, err, "column "+c.Subject())
			a.OldTables = true
		}
	}
}
