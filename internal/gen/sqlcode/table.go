package sqlcode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

type table struct {
	Table    string
	Lines    []string // columns and constraints
	After    []string // foreign keys of a cycle
	Comments []comment
}

// CreateTables returns the statements that create the tables with their keys and comments,
// parents before children. Foreign keys of a cycle follow the tables.
func CreateTables(tables []*model.Table) (string, error) {
	parts := schemasOf(tables)
	names := map[string]string{}
	made := map[*model.Table]bool{}
	late := map[*model.Table][]string{} // foreign keys that wait for a table
	for _, t := range model.ParentsFirst(tables) {
		made[t] = true
		data, err := newTable(t, names, func(fk model.ForeignKey, line string) bool {
			waits := slices.Contains(tables, fk.References) && !made[fk.References]
			if waits {
				late[fk.References] = append(late[fk.References], "ALTER TABLE "+tableIdent(t)+" ADD "+line+";")
			}
			return waits
		})
		if err != nil {
			return "", err
		}
		data.After = late[t]
		text, err := render("table", data)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n"), nil
}

// newTable prepares one table. names are the constraint and index names of the schema so
// far; waits reports whether a foreign key must be added later.
func newTable(t *model.Table, names map[string]string, waits func(model.ForeignKey, string) bool) (*table, error) {
	data := &table{Table: tableIdent(t)}
	name := func(columns []*model.Column, suffix string) (string, error) {
		full := constraintName(t.InDatabase(), columns, suffix)
		within := t.Schema + "." + full
		if other, twice := names[within]; twice {
			return "", fmt.Errorf("tables %s and %s both need a constraint or index named %s", other, t.Name, full)
		}
		names[within] = t.Name
		return ident(full), nil
	}
	for _, c := range t.Columns {
		line, err := columnLine(c)
		if err != nil {
			return nil, fmt.Errorf("table %s, column %s: %w", t.Name, c.Name, err)
		}
		data.Lines = append(data.Lines, line)
	}
	pkey, err := name(nil, "pkey")
	if err != nil {
		return nil, err
	}
	data.Lines = append(data.Lines, "CONSTRAINT "+pkey+" PRIMARY KEY ("+strings.Join(idents(t.PrimaryKey), ", ")+")")
	for _, u := range t.Unique {
		key, err := name(u, "key")
		if err != nil {
			return nil, err
		}
		data.Lines = append(data.Lines, "CONSTRAINT "+key+" UNIQUE ("+strings.Join(idents(u), ", ")+")")
	}
	for _, fk := range t.ForeignKeys {
		fkey, err := name(fk.Columns, "fkey")
		if err != nil {
			return nil, err
		}
		if line := foreignKeyLine(fkey, fk); !waits(fk, line) {
			data.Lines = append(data.Lines, line)
		}
	}
	data.Comments = tableComments(t)
	return data, nil
}

func foreignKeyLine(name string, fk model.ForeignKey) string {
	action := map[string]string{"cascade": "CASCADE", "set_null": "SET NULL"}[fk.OnDelete]
	if action == "" {
		action = "RESTRICT"
	}
	return fmt.Sprintf("CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE %s", name,
		strings.Join(idents(fk.Columns), ", "), tableIdent(fk.References), strings.Join(idents(fk.References.PrimaryKey), ", "), action)
}
