package check

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// dbName is one name in the database: of a table, an index or a constraint.
type dbName struct {
	what string
	pos  syntax.Pos
}

// checkDatabaseNames reports tables, keys and constraints that would get one name.
// Postgres keeps tables and the indexes of keys in one space of names, and those of keys are
// made of their table and columns: [a_b] and [a, b] meet.
func checkDatabaseNames(report *syntax.Diagnostics, d *draft.Service) {
	relations := map[string]dbName{}
	for _, t := range d.Tables.All {
		name := t.Spec.Name
		addDatabaseName(report, relations, inSchema(t, t.Model.InDatabase()), dbName{"table " + wording.Quote(name.Value), name.Pos})
		columns := map[string]dbName{}
		for _, c := range t.Columns {
			addDatabaseName(report, columns, c.Model.InDatabase(), dbName{c.Is(), c.Spec.Name.Pos})
		}
	}
	for _, t := range d.Tables.All {
		spec := t.Spec
		if t.Model.External {
			continue
		}
		if t.Broken || len(t.Model.Unique) < len(spec.Unique) { // a key was refused
			continue
		}
		of := " of " + wording.Quote(spec.Name.Value)
		addDatabaseName(report, relations, derivedName(t, nil, "pkey"), dbName{"the primary key" + of, spec.Name.Pos})
		for i, key := range t.Model.Unique {
			addDatabaseName(report, relations, derivedName(t, key, "key"), dbName{"unique key " + wording.Bracketed(model.ColumnNames(key)) + of, spec.Unique[i].Pos})
		}
		for _, c := range t.Columns {
			if c.Model.Identity {
				addDatabaseName(report, relations, derivedName(t, []*model.Column{c.Model}, "seq"), dbName{"the sequence of " + c.Is(), c.Spec.Name.Pos})
			}
		}
		constraints := map[string]dbName{}
		for i, fk := range t.Model.ForeignKeys {
			addDatabaseName(report, constraints, derivedName(t, fk.Columns, "fkey"), dbName{"foreign key " + wording.Bracketed(model.ColumnNames(fk.Columns)) + of, t.ForeignKeys[i]})
		}
	}
}

// derivedName is what Postgres makes of a table and columns. Longer names than Postgres
// keeps are told apart by a hash of this one.
func derivedName(t *draft.Table, columns []*model.Column, suffix string) string {
	parts := []string{t.Model.InDatabase()}
	for _, c := range columns {
		parts = append(parts, c.InDatabase())
	}
	return inSchema(t, strings.Join(append(parts, suffix), "_"))
}

// inSchema is a name with the schema of a table, if the spec names one.
func inSchema(t *draft.Table, name string) string {
	if t.Model.Schema == "" {
		return name
	}
	return t.Model.Schema + "." + name
}

func addDatabaseName(report *syntax.Diagnostics, names map[string]dbName, name string, use dbName) {
	first, taken := names[name]
	switch {
	case !taken:
		names[name] = use
	case first.what == use.what:
		report.Add(use.pos, "E107", use.what+" is declared twice", "the first one is on "+first.pos.OnLine())
	default:
		report.Add(use.pos, "E202", fmt.Sprintf("%s and %s both become database name %s", first.what, use.what, name),
			"rename a table or a column; the first is on "+first.pos.OnLine())
	}
}
