package state

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// Rename is a table whose name changed, or those of columns in it, with all that Postgres named
// after them. The names are those of the database, without schema.
type Rename struct {
	From    string // name of the table before; its own if only columns are renamed
	Columns []RenamedColumn
	Keys    []RenamedKey
	Numbers [][2]string // columns that the database numbers, before and now
}

// RenamedColumn is a column with another name.
type RenamedColumn struct {
	From string // in the database
	Name string // in the spec before
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
	for _, t := range s.Tables {
		i := d.index(t.Name)
		if was := d.index(t.RenamedFrom); i < 0 && was >= 0 {
			i = was
		}
		if i < 0 || t.External {
			continue
		}
		before := d.known[i].clone()
		r := &Rename{From: before.inDatabase()}
		if before.Name != t.Name {
			d.renameTable(i, t)
		}
		for _, c := range t.Columns {
			if from, ok := d.known[i].renameColumn(t, c); ok && from != c.InDatabase() {
				r.Columns = append(r.Columns, RenamedColumn{from, c.RenamedFrom, c})
			}
		}
		if r.From == t.InDatabase() && len(r.Columns) == 0 || before.schema() != t.Schema {
			continue // the names are those of the spec alone, or the table was moved, which is refused
		}
		r.named(before, d.known[i])
		d.add(TableChange{Kind: Renamed, Table: t, Rename: r, At: Place{Table: t.Name}, Text: r.text(t)})
	}
}

func (d *tableDiff) index(table string) int {
	return slices.IndexFunc(d.known, func(o Table) bool { return o.Name == table })
}

// renameTable gives a table its new name, also where foreign keys refer to it.
func (d *tableDiff) renameTable(i int, t *model.Table) {
	from := d.known[i].Name
	if d.known[i].schema() == t.Schema {
		d.known[i].Place = tablePlace(t)
	}
	d.known[i].Name = t.Name
	for i := range d.known {
		for j, def := range d.known[i].ForeignKeys {
			columns, rest, _ := strings.Cut(def, " references ")
			parent, action, _ := strings.Cut(rest, " on delete ")
			if parent == from {
				d.known[i].ForeignKeys[j] = columns + " references " + t.Name + " on delete " + action
			}
		}
	}
}

// renameColumn gives a column of the table its new name, wherever the table names it, and returns
// the one that it had in the database.
func (o *Table) renameColumn(t *model.Table, c *model.Column) (from string, ok bool) {
	at := func(name string) int {
		return slices.IndexFunc(o.Columns, func(e Entry) bool { return e.Name == name })
	}
	i := at(c.RenamedFrom)
	if i < 0 || at(c.Name) >= 0 {
		return "", false
	}
	from = o.column(c.RenamedFrom)
	was := readColumn(o.Columns[i].Def)
	def := o.Columns[i].Def
	if was.stored != "" {
		def = strings.TrimSuffix(def, " name "+strconv.Quote(was.stored))
	}
	if c.Stored != "" {
		def += " name " + strconv.Quote(c.Stored)
	}
	o.Columns[i] = Entry{c.Name, def}
	rename := func(list string) string {
		names := split(list)
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
	return from, true
}

// named notes what Postgres named after the table and its columns.
func (r *Rename) named(was, is Table) {
	moved := was.inDatabase() != is.inDatabase()
	add := func(suffix, from, to string) {
		k := RenamedKey{suffix, was.columnsOf(from), is.columnsOf(to)}
		if moved || !slices.Equal(k.From, k.To) {
			r.Keys = append(r.Keys, k)
		}
	}
	if moved {
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
		from, to := was.column(was.Columns[i].Name), is.column(c.Name)
		if readColumn(c.Def).identity && (moved || from != to) {
			r.Numbers = append(r.Numbers, [2]string{from, to})
		}
	}
}

// text says what is renamed, as a clause.
func (r *Rename) text(t *model.Table) string {
	var parts []string
	if r.From != t.InDatabase() {
		parts = append(parts, fmt.Sprintf("table %q was %q", t.InDatabase(), r.From))
	}
	for _, c := range r.Columns {
		parts = append(parts, fmt.Sprintf("column %q of %q was %q", c.To.InDatabase(), t.InDatabase(), c.From))
	}
	return strings.Join(parts, ", ")
}

// schema and inDatabase are what [tablePlace] has put together.
func (o Table) schema() string {
	first, rest := unquoted(o.Place)
	if rest == "" {
		return ""
	}
	return first
}

func (o Table) inDatabase() string {
	first, rest := unquoted(o.Place)
	if rest != "" {
		first, _ = unquoted(strings.TrimPrefix(rest, "."))
	}
	return cmp.Or(first, o.Name)
}

// unquoted reads a quoted name off the front of a text.
func unquoted(text string) (name, rest string) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", ""
	}
	name, _ = strconv.Unquote(quoted) // it is quoted
	return name, text[len(quoted):]
}

// column is the name in the database of a column.
func (o Table) column(name string) string {
	for _, c := range o.Columns {
		if c.Name == name {
			return cmp.Or(readColumn(c.Def).stored, name)
		}
	}
	return name
}

// columnsOf are the names in the database of the columns of a list.
func (o Table) columnsOf(list string) (names []string) {
	for _, name := range split(list) {
		names = append(names, o.column(name))
	}
	return names
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
