package generator

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/pgtable"
)

// describer writes existing tables of a database as section tables of a spec. What a spec cannot
// express becomes a comment with the reason.
type describer struct {
	strings.Builder
	tables []described
}

// described is a table with its names in the spec.
type described struct {
	*pgtable.Table
	key     string
	columns map[string]string // name in the database -> key; without those that the spec cannot have
	primary []string          // names in the database; nil: the spec cannot have the table
}

func (d *describer) line(indent int, format string, args ...any) {
	d.WriteString(strings.Repeat("  ", indent) + fmt.Sprintf(format, args...) + "\n")
}

// describe returns the section and the tables in it.
func describe(tables []*pgtable.Table) (string, []described) {
	d := &describer{}
	taken := map[string]bool{}
	for _, t := range tables {
		n := described{Table: t, columns: map[string]string{}}
		columns := map[string]bool{}
		for i := range t.Columns {
			if t.Columns[i].Known && syntax.StoredFlaw(t.Columns[i].Name) == "" {
				n.columns[t.Columns[i].Name] = entryName(t.Columns[i].Name, "c", columns)
			}
		}
		n.primary = n.findPrimary()
		if n.primary != nil {
			n.key = entryName(t.Name, "t", taken)
		}
		d.tables = append(d.tables, n)
	}
	d.line(0, "tables:")
	for i := range d.tables {
		d.table(&d.tables[i])
	}
	in := slices.DeleteFunc(d.tables, func(n described) bool { return n.primary == nil })
	return d.String(), in
}

// reservedTable are names that no table of a spec may have.
var reservedTable = regexp.MustCompile(`^(idem_|pg_)`)

// noPlace returns why the spec cannot have the table, and the consequence.
func (n *described) noPlace() (is, so string) {
	switch {
	case reservedTable.MatchString(n.Name):
		return "Its name is reserved: idem_ belongs to idemgen's runtime, pg_ to Postgres", "so no step can write it under this name"
	case n.flaw() != "":
		return n.flaw(), "and a spec cannot write that"
	case n.View:
		return "It is a view, for which the database knows no key", "so write it yourself: its primary_key must identify its rows"
	}
	return "It has no unique key whose columns are NOT NULL and of types that a key may have", "so nothing identifies its rows"
}

// flaw returns why the spec cannot have the table's name; "" if it can.
func (n *described) flaw() string {
	if why := syntax.StoredFlaw(n.Schema); why != "" {
		return "The name of its schema " + why
	}
	if why := syntax.StoredFlaw(n.Name); why != "" {
		return "Its name " + why
	}
	return ""
}

// findPrimary returns the key that identifies rows in the spec: the primary key or, if it is not
// usable, a unique key.
func (n *described) findPrimary() []string {
	if reservedTable.MatchString(n.Name) || n.flaw() != "" {
		return nil
	}
	for _, k := range n.Keys {
		if !k.Deferrable && n.usable(k.Columns) && !slices.ContainsFunc(k.Columns, func(c string) bool { return n.Column(c).Nullable }) {
			return k.Columns
		}
	}
	return nil
}

// usable reports whether the spec may have a key of these columns.
func (n *described) usable(columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		ct, _ := typeword.ColumnType(n.Column(name).Type)
		return n.columns[name] == "" || !ct.FitsKey()
	})
}

func (n *described) list(columns []string) string {
	var keys []string
	for _, c := range columns {
		keys = append(keys, n.columns[c])
	}
	return "[" + strings.Join(keys, ", ") + "]"
}

func (d *describer) table(n *described) {
	if n.primary == nil {
		is, so := n.noPlace()
		d.line(1, "# %s: left out. %s,", comment(n.Schema+"."+n.Name), is)
		d.line(1, "# %s.", so)
		return
	}
	d.line(1, "%s:", n.key)
	d.line(2, "external: true")
	d.line(2, "schema: %s", yamlText(n.Schema))
	if n.key != n.Name {
		d.line(2, "name: %s", yamlText(n.Name))
	}
	if n.Unlogged {
		d.line(2, "# unlogged, so the service rejects it: after a crash of the server its rows are lost")
	}
	d.line(2, "primary_key: %s", n.list(n.primary))
	d.keys(n)
	d.foreignKeys(n)
	for _, index := range n.Others {
		d.line(2, "# left out: %s", comment(index))
	}
	for _, t := range n.Before {
		d.trigger(t)
	}
	d.line(2, "columns:")
	for i := range n.Columns {
		d.column(n, &n.Columns[i])
	}
}

// trigger writes a comment about a BEFORE trigger, whose effect only its author knows.
func (d *describer) trigger(t pgtable.Trigger) {
	if t.Insert {
		d.line(2, "# trigger %s runs before each new row. If it fills a column, write filled_by: database on that", comment(t.Name))
		d.line(2, "# column: then no step has to fill it.")
		return
	}
	d.line(2, "# trigger %s runs before a row is changed. It may replace what steps write.", comment(t.Name))
}

func (d *describer) keys(n *described) {
	said := [][]string{n.primary}
	var lists []string
	for _, k := range n.Keys {
		again := slices.ContainsFunc(said, func(s []string) bool {
			return slices.Equal(slices.Sorted(slices.Values(s)), slices.Sorted(slices.Values(k.Columns)))
		})
		switch {
		case again:
		case k.Deferrable:
			d.line(2, "# left out: the unique key (%s), which is deferrable", comment(strings.Join(k.Columns, ", ")))
		case !n.usable(k.Columns):
			d.line(2, "# left out: the unique key (%s), of a type that no key may have", comment(strings.Join(k.Columns, ", ")))
		default:
			lists = append(lists, n.list(k.Columns))
			said = append(said, k.Columns)
		}
	}
	if len(lists) > 0 {
		d.line(2, "unique: [%s]", strings.Join(lists, ", "))
	}
}

func (d *describer) foreignKeys(n *described) {
	var lines []string
	for _, fk := range n.ForeignKeys {
		i := slices.IndexFunc(d.tables, func(o described) bool { return o.Schema == fk.Schema && o.Name == fk.Table })
		if why := d.foreign(n, fk, i); why != "" {
			d.line(2, "# left out: the foreign key (%s) to %s: %s", comment(strings.Join(fk.Columns, ", ")), comment(fk.Schema+"."+fk.Table), why)
			continue
		}
		// A foreign key names the columns in the order of the parent's primary key.
		columns := slices.Clone(fk.Columns)
		for j, name := range d.tables[i].primary {
			columns[j] = fk.Columns[slices.Index(fk.References, name)]
		}
		lines = append(lines, fmt.Sprintf("- {columns: %s, references: %s, on_delete: %s}", n.list(columns), d.tables[i].key, fk.OnDelete))
	}
	if len(lines) > 0 {
		d.line(2, "foreign_keys:")
	}
	for _, l := range lines {
		d.line(3, "%s", l)
	}
}

// foreign returns why the spec cannot have a foreign key; "" if it can. i is the index of the
// referenced table.
func (d *describer) foreign(n *described, fk pgtable.ForeignKey, i int) string {
	if i < 0 || d.tables[i].primary == nil {
		return "that table is not here"
	}
	parent := &d.tables[i]
	switch {
	case !slices.Contains([]string{"restrict", "cascade", "set_null"}, fk.OnDelete):
		return "on delete " + fk.OnDelete
	case !slices.Equal(slices.Sorted(slices.Values(fk.References)), slices.Sorted(slices.Values(parent.primary))):
		return "not to its primary key"
	}
	for j, c := range fk.Columns {
		if own := n.Column(c); n.columns[c] == "" || own.Type != parent.Column(fk.References[j]).Type || fk.OnDelete == "set_null" && !own.Nullable {
			return "its columns have other types"
		}
	}
	return ""
}

func (d *describer) column(n *described, c *pgtable.Column) {
	if n.columns[c.Name] == "" {
		d.line(3, "# %s: left out. %s", comment(c.Name), comment(noWord(c)))
		if !c.Nullable && c.Default == "" && c.Always == "" {
			d.line(3, "# Each row needs it, so no step can insert rows here: give it a default in the database.")
		}
		return
	}
	word, key := c.Type, n.columns[c.Name]
	if c.Nullable {
		word = "nullable " + word
	}
	var more []string
	if key != c.Name {
		more = append(more, "name: "+yamlText(c.Name))
	}
	if fillsItself(n, c) {
		more = append(more, "filled_by: database")
	}
	about := ""
	switch {
	case c.Default != "":
		about = " # default " + comment(c.Default)
	case c.Always != "":
		about = " # " + c.Always
	case c.Domain != "":
		about = " # domain " + comment(c.Domain)
	}
	if len(more) == 0 {
		d.line(3, "%s: %s%s", key, word, about)
		return
	}
	d.line(3, "%s: {type: %s, %s}%s", key, strconv.Quote(word), strings.Join(more, ", "), about)
}

// noWord returns why a spec cannot have a column of this type.
func noWord(c *pgtable.Column) string {
	if why := syntax.StoredFlaw(c.Name); why != "" {
		return "Its name " + why + ", and a spec cannot write that"
	}
	if strings.HasPrefix(c.Type, "named(") {
		return fmt.Sprintf("Its type is %q.%q, but named(schema.type) only accepts lowercase letters, digits and _", c.Base.Schema, c.Base.Name)
	}
	return "The spec language has no type for " + c.Type
}

// fillsItself reports whether the database fills a column. A key whose default is any value, such
// as a random UUID, is filled by events instead.
func fillsItself(n *described, c *pgtable.Column) bool {
	return c.Always != "" || c.Default != "" && (c.Default == pgtable.ByDefault || strings.Contains(c.Default, "nextval(") || !slices.Contains(n.primary, c.Name))
}

// fieldTypes are the types of fields that fill columns of a type.
var fieldTypes = map[string]string{
	"text": "string", "varchar": "string", "char": "string", "boolean": "bool", "integer": "int32", "bigint": "int64",
	"smallint": "int32", "numeric": "decimal", "real": "float64", "double precision": "float64", "uuid": "uuid", "timestamptz": "timestamp", "timestamp": "local_timestamp", "date": "date",
	"bytea": "bytes", "jsonb": "json", "json": "json",
}

// fieldType returns the type of fields that fill columns of a type; "" if there is none.
func fieldType(column string) string {
	if elem, ok := strings.CutSuffix(column, " array"); ok {
		return "list(" + fieldType(elem) + ")"
	}
	word, _, _ := strings.Cut(column, "(")
	if slices.Contains(model.Parsed, word) {
		return "string"
	}
	return fieldTypes[word]
}

// sampleFields returns fields for the columns of a table that steps must fill, or none if one of
// these columns has no type of a spec.
func (n *described) sampleFields() (fields, leave []string) {
	for i := range n.Columns {
		c := &n.Columns[i]
		switch {
		case n.columns[c.Name] == "" && (c.Nullable || c.Default != "" || c.Always != ""), fillsItself(n, c) && n.columns[c.Name] != "":
		case n.columns[c.Name] == "":
			return nil, nil
		case c.Nullable:
			leave = append(leave, n.columns[c.Name])
		case fieldType(c.Type) == "" || n.columns[c.Name] == "each" || n.columns[c.Name] == "result":
			return nil, nil
		default:
			fields = append(fields, n.columns[c.Name]+": "+fieldType(c.Type))
		}
	}
	return fields, leave
}

// yamlText returns a quoted YAML string.
func yamlText(text string) string {
	if _, ok := typeword.ColumnType(text); ok || isEntry.MatchString(text) && text != "true" && text != "false" && text != "null" {
		return text
	}
	return strconv.Quote(text)
}

// comment returns a text on one line.
func comment(text string) string {
	quoted := strconv.Quote(text)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}
