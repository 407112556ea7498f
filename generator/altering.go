package generator

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
)

// altering turns the changes of the tables into one migration.
type altering struct {
	sqlcode.Migration
	err error // the first one
}

// migration returns the migration for the changes; nil if there are none.
func migration(consumer string, changes []state.TableChange) (*sqlcode.Migration, error) {
	a := &altering{}
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
			a.made(text, err, "column "+c.Subject())
			a.OldTables = true
		}
	}
}
