package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// Rename is a table whose name changed, or those of columns in it, with all that Postgres named
// after them.
type Rename struct {
	From    string // name of the table before; its own if only columns are renamed
	Columns []RenamedColumn
	Keys    []RenamedKey
	Numbers [][2]string // columns that the database numbers, before and now
}

// RenamedColumn is a column with another name.
type RenamedColumn struct {
	From string
	To   *model.Column
}

// RenamedKey is a key or index: it keeps its columns, and is named after the new names.
type RenamedKey struct {
	Suffix   string // pkey, key, idx or fkey
	From, To []string
}

// renames brings the tables of the state under the names of the spec: renamed_from counts if
// the state knows the former name, and not the new one.
func (d *tableDiff) renames(s *model.Service) {
	has := func(name string) bool {
		return slices.ContainsFunc(s.Tables, func(t *model.Table) bool { return t.Name == name })
	}
	for _, t := range s.Tables {
		i := d.index(t.Name)
		if was := d.index(t.RenamedFrom); i < 0 && was >= 0 && !has(t.RenamedFrom) {
			i = was
		}
		if i < 0 {
			continue
		}
		before := d.known[i].clone()
		r := &Rename{From: before.Name}
		if before.Name != t.Name {
			d.renameTable(before.Name, t.Name)
		}
		for _, c := range t.Columns {
			if d.known[i].renameColumn(t, c) {
				r.Columns = append(r.Columns, RenamedColumn{c.RenamedFrom, c})
			}
		}
		if r.From == t.Name && len(r.Columns) == 0 {
			continue
		}
		r.named(before, d.known[i])
		d.add(TableChange{Kind: Renamed, Table: t, Rename: r, At: Place{Table: t.Name}, Text: r.text(t)})
	}
}

func (d *tableDiff) index(table string) int {
	return slices.IndexFunc(d.known, func(o Table) bool { return o.Name == table })
}

// renameTable gives a table its new name, also where foreign keys refer to it.
func (d *tableDiff) renameTable(from, to string) {
	for i := range d.known {
		o := &d.known[i]
		if o.Name == from {
			o.Name = to
		}
		for j, def := range o.ForeignKeys {
			columns, rest, _ := strings.Cut(def, " references ")
			parent, action, _ := strings.Cut(rest, " on delete ")
			if parent == from {
				o.ForeignKeys[j] = columns + " references " + to + " on delete " + action
			}
		}
	}
}

// renameColumn gives a column of the table its new name, wherever the table names it.
func (o *Table) renameColumn(t *model.Table, c *model.Column) bool {
	at := func(name string) int {
		return slices.IndexFunc(o.Columns, func(e Entry) bool { return e.Name == name })
	}
	kept := slices.ContainsFunc(t.Columns, func(n *model.Column) bool { return n.Name == c.RenamedFrom })
	i := at(c.RenamedFrom)
	if c.RenamedFrom == "" || kept || i < 0 || at(c.Name) >= 0 {
		return false
	}
	o.Columns[i].Name = c.Name
	rename := func(list string) string {
		names := strings.Split(list, ", ")
		for j, name := range names {
			if name == c.RenamedFrom {
				names[j] = c.Name
			}
		}
		return strings.Join(names, ", ")
	}
	o.PrimaryKey = rename(o.PrimaryKey)
	for _, lists := range [][]string{o.Unique, o.Indexes} {
		for j := range lists {
			lists[j] = rename(lists[j])
		}
	}
	for j, def := range o.ForeignKeys {
		columns, rest, _ := strings.Cut(def, " references ")
		o.ForeignKeys[j] = rename(columns) + " references " + rest
	}
	return true
}

// named notes what Postgres named after the table and its columns.
func (r *Rename) named(was, is Table) {
	add := func(suffix, from, to string) {
		if was.Name != is.Name || from != to {
			r.Keys = append(r.Keys, RenamedKey{suffix, split(from), split(to)})
		}
	}
	if was.Name != is.Name {
		r.Keys = append(r.Keys, RenamedKey{Suffix: "pkey"}) // named after the table only
	}
	for i := range is.Unique {
		add("key", was.Unique[i], is.Unique[i])
	}
	for i := range is.Indexes {
		add("idx", was.Indexes[i], is.Indexes[i])
	}
	for i := range is.ForeignKeys {
		add("fkey", foreignColumns(was.ForeignKeys[i]), foreignColumns(is.ForeignKeys[i]))
	}
	for i, c := range is.Columns {
		if from := was.Columns[i].Name; strings.HasSuffix(c.Def, " identity") && (was.Name != is.Name || from != c.Name) {
			r.Numbers = append(r.Numbers, [2]string{from, c.Name})
		}
	}
}

// text says what is renamed, as a clause.
func (r *Rename) text(t *model.Table) string {
	var parts []string
	if r.From != t.Name {
		parts = append(parts, fmt.Sprintf("table %q was %q", t.Name, r.From))
	}
	for _, c := range r.Columns {
		parts = append(parts, fmt.Sprintf("column %q of %q was %q", c.To.Name, t.Name, c.From))
	}
	return strings.Join(parts, ", ")
}

func split(list string) []string { return strings.Split(list, ", ") }

// foreignColumns are the columns of a foreign key's definition.
func foreignColumns(def string) string {
	columns, _, _ := strings.Cut(def, " references ")
	return columns
}

// clone is a copy that shares nothing with the table.
func (o Table) clone() Table {
	o.Columns, o.Unique = slices.Clone(o.Columns), slices.Clone(o.Unique)
	o.Indexes, o.ForeignKeys = slices.Clone(o.Indexes), slices.Clone(o.ForeignKeys)
	return o
}
