package generator

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqlcode"
	"github.com/idemgen/idemgen/generator/state"
)

// script is one migration without its number. Of is what it is called beside the consumer; ""
// for the first.
type script struct {
	of string
	sqlcode.Migration
}

// altering turns the changes of the tables into migrations, in the order in which they are
// applied: first all that is done at once, then alone each step that takes the longer the larger
// a table is. So a lock is held for no longer than its own step needs.
type altering struct {
	format   sqlcode.Format
	consumer string
	first    sqlcode.Migration
	later    []script
	err      error // the first one
}

// scripts returns the migrations for the changes.
func scripts(format sqlcode.Format, consumer string, changes []state.TableChange) ([]script, error) {
	a := &altering{format: format, consumer: consumer}
	a.renames(changes)
	a.tables(changes)
	a.columns(changes)
	for _, c := range changes {
		if c.Kind == state.NewForeignKey {
			a.old(subject(c)+", for rows from now on", sqlcode.AddForeignKey(c.Table, *c.Foreign))
		}
	}
	a.rewrites(changes)
	for _, c := range changes {
		switch c.Kind {
		case state.NewUnique:
			a.unique(c)
		case state.NewIndex:
			a.index(c)
		}
	}
	a.checks(changes)
	var all []script
	if len(a.first.Parts) > 0 {
		a.first.About = append([]string{"Consumer " + consumer + ", new here:"}, a.first.About...)
		all = append(all, script{"", a.first})
	}
	return append(all, a.later...), a.err
}

// made adds statements to the first migration, and what they make.
func (a *altering) made(statements string, err error, names ...string) {
	if a.err == nil {
		a.err = err
	}
	for _, name := range names {
		a.first.About = append(a.first.About, "  "+name)
	}
	a.first.Parts = append(a.first.Parts, statements)
}

// old is made for a table that services use.
func (a *altering) old(what, statement string) {
	a.made(statement, nil, what)
	a.first.OldTables = true
}

// alone adds a migration of its own.
func (a *altering) alone(of string, m sqlcode.Migration, about ...string) {
	m.About = append([]string{"Consumer " + a.consumer + ": " + about[0]}, about[1:]...)
	a.later = append(a.later, script{of, m})
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
		a.first.OldTables = a.first.OldTables || referToOthers(tables)
	}
}

// referToOthers reports whether a new table has a foreign key to an old one, which is locked for
// that.
func referToOthers(tables []*model.Table) bool {
	return slices.ContainsFunc(tables, func(t *model.Table) bool {
		return slices.ContainsFunc(t.ForeignKeys, func(fk model.ForeignKey) bool { return !slices.Contains(tables, fk.References) })
	})
}

// columns adds columns, and changes those that need no rewrite.
func (a *altering) columns(changes []state.TableChange) {
	for _, c := range changes {
		switch {
		case c.Kind == state.NewColumn:
			text, err := sqlcode.AddColumn(c.Table, c.Column)
			if c.Column.Type.Kind == model.ColCitext && !slices.ContainsFunc(a.first.Parts, func(p string) bool { return strings.HasPrefix(p, sqlcode.Citext) }) {
				text = sqlcode.Citext + "\n" + text
			}
			a.made(text, err, "column "+c.Subject())
			a.first.OldTables = true
		case c.Kind == state.ChangedColumn && !c.Alter.Rewrites:
			text, err := sqlcode.AlterColumns(c.Table, alterations([]state.TableChange{c}))
			a.made(text, err, c.Text)
			a.first.OldTables = true
		}
	}
}

func alterations(changes []state.TableChange) (all []sqlcode.Alteration) {
	for _, c := range changes {
		all = append(all, sqlcode.Alteration{Column: c.Column, Type: c.Alter.Type, Nullable: c.Alter.Nullable, Default: c.Alter.Default})
	}
	return all
}

// rewrites changes the types for which Postgres writes a table again: all of a table at once.
func (a *altering) rewrites(changes []state.TableChange) {
	for len(changes) > 0 {
		table := changes[0].Table
		rewrites := func(c state.TableChange) bool { return c.Alter.Rewrites && c.Table == table }
		var of []state.TableChange
		var about []string
		for _, c := range changes {
			if rewrites(c) {
				of = append(of, c)
				about = append(about, c.Text)
			}
		}
		if len(of) > 0 {
			text, err := sqlcode.AlterColumns(table, alterations(of))
			if a.err == nil {
				a.err = err
			}
			a.alone(table.Name+"_types", sqlcode.Migration{OldTables: true, Parts: []string{text}}, append(about,
				"Postgres writes the table and its indexes again. Nothing reads or writes the table until that is",
				"done: the services stand, and go on by themselves. Meanwhile it takes its room on disk twice.")...)
		}
		changes = slices.DeleteFunc(slices.Clone(changes), func(c state.TableChange) bool { return c.Table == table })
	}
}

// subject is what a change makes, without "is new".
func subject(c state.TableChange) string { return strings.TrimSuffix(c.Text, " is new") }

func (a *altering) unique(c state.TableChange) {
	name := sqlcode.KeyName(c.Table, c.Key, "key")
	if !a.format.Alone() {
		a.alone(name, sqlcode.Migration{OldTables: true, Parts: []string{sqlcode.AddUnique(c.Table, c.Key)}}, subject(c),
			"Nothing reads or writes the table until all rows are read and sorted. It fails if two of them",
			"have equal values.")
		return
	}
	index := sqlcode.Migration{Alone: true, Parts: []string{sqlcode.ConcurrentUniqueIndex(c.Table, c.Key)}, Again: sqlcode.DropConcurrently(c.Table, c.Key, "key")}
	a.alone(name+"_index", index, "the index of "+subject(c),
		"Others write to the table meanwhile. It fails if two rows have equal values.")
	a.alone(name, sqlcode.Migration{OldTables: true, Parts: []string{sqlcode.UseUniqueIndex(c.Table, c.Key)}}, subject(c))
}

func (a *altering) index(c state.TableChange) {
	name := sqlcode.KeyName(c.Table, c.Key, "idx")
	if !a.format.Alone() {
		a.alone(name, sqlcode.Migration{OldTables: true, Parts: []string{sqlcode.AddIndex(c.Table, c.Key)}}, subject(c),
			"Nothing writes to the table until all rows are read and sorted.")
		return
	}
	index := sqlcode.Migration{Alone: true, Parts: []string{sqlcode.ConcurrentIndex(c.Table, c.Key)}, Again: sqlcode.DropConcurrently(c.Table, c.Key, "idx")}
	a.alone(name, index, subject(c), "Others write to the table meanwhile.")
}

// checks looks at the old rows of tables with new foreign keys: a lock that stops nobody.
func (a *altering) checks(changes []state.TableChange) {
	for _, c := range changes {
		if c.Kind == state.NewForeignKey {
			a.alone(sqlcode.KeyName(c.Table, c.Foreign.Columns, "fkey")+"_checked",
				sqlcode.Migration{OldTables: true, Parts: []string{sqlcode.ValidateForeignKey(c.Table, *c.Foreign)}},
				subject(c), "The rows that were there before it are checked; others write to the tables meanwhile.",
				"It fails if a row has no parent.")
		}
	}
}
