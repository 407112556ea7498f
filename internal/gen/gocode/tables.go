package gocode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// tables are the elements of wire.Service.Tables. Each key, column and reference has a line of
// its own, so that a change of the spec changes no other line.
func (p *pkg) serviceTables() []code {
	var out []code
	for _, t := range p.service.Tables {
		out = append(out, composite(text(""), p.tableFacts(t)))
	}
	return out
}

// Table is what a service says of a table of the database: wire.Table, but for its references.
type Table struct {
	Name, SQL string
	Unique    [][]string
	Columns   []Column
	Rights    []string
}

// Column is wire.Column.
type Column struct {
	Name, Type                string
	Nullable, Filled, Default bool
	Left, Null                string
	Texts                     []string
}

// TableOf returns what a service says of one of its tables. sql is what statements call it, if its
// name does not do.
func TableOf(s *model.Service, t *model.Table, sql string) Table {
	out := Table{Name: t.Name, SQL: sql, Unique: [][]string{inDatabase(t.PrimaryKey)}, Rights: rights(s, t)}
	for _, u := range t.Unique {
		out.Unique = append(out.Unique, inDatabase(u))
	}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, Column{
			Name: c.InDatabase(), Type: c.Type.String(), Nullable: c.Nullable, Filled: c.ByDatabase(), Default: c.Default != nil,
			Left: left(s, c), Null: null(s, c), Texts: texts(s, c),
		})
	}
	return out
}

// tableFacts are the fields of a wire.Table.
func (p *pkg) tableFacts(t *model.Table) []code {
	is := TableOf(p.service, t, p.tableName(t))
	var keys, columns []code
	for _, u := range is.Unique {
		keys = append(keys, text("%s", textList(u)))
	}
	for _, c := range is.Columns {
		columns = append(columns, columnFacts(c))
	}
	facts := []code{pair("Name", lit(is.Name))}
	if is.SQL != "" {
		facts = append(facts, pair("SQL", lit(is.SQL)))
	}
	facts = append(facts, pair("Unique", composite(text("[][]string"), keys)), pair("Columns", composite(slice(wire("Column")), columns)))
	if len(is.Rights) > 0 {
		facts = append(facts, pair("Rights", text("[]string").Values(literals(is.Rights)...)))
	}
	if len(t.ForeignKeys) > 0 {
		facts = append(facts, pair("References", composite(slice(wire("Reference")), references(t))))
	}
	return facts
}

// columnFacts is a wire.Column, on one line.
func columnFacts(c Column) code {
	fields := fmt.Sprintf("Name: %q, Type: %q", c.Name, c.Type)
	for _, f := range []struct {
		name  string
		holds bool
	}{{"Nullable", c.Nullable}, {"Filled", c.Filled}, {"Default", c.Default}} {
		if f.holds {
			fields += ", " + f.name + ": true"
		}
	}
	for _, f := range []struct{ name, event string }{{"Left", c.Left}, {"Null", c.Null}} {
		if f.event != "" {
			fields += fmt.Sprintf(", %s: %q", f.name, f.event)
		}
	}
	if len(c.Texts) > 0 {
		fields += fmt.Sprintf(", Texts: %#v", c.Texts)
	}
	return text("{%s}", fields)
}

// rights are those that the steps of a service need on a table, as GRANT calls them.
func rights(s *model.Service, table *model.Table) []string {
	var needed [4]bool
	for _, t := range s.Topics {
		for _, st := range t.Flush {
			if st.Table != table {
				continue
			}
			reads := st.Changes || st.Removes || st.If.Exists == "skip"
			for i, needs := range []bool{reads, st.Makes, st.Changes, st.Removes} {
				needed[i] = needed[i] || needs
			}
		}
	}
	var names []string
	for i, name := range []string{"SELECT", "INSERT", "UPDATE", "DELETE"} {
		if needed[i] {
			names = append(names, name)
		}
	}
	return names
}

// inDatabase are the names of columns in the database.
func inDatabase(columns []*model.Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.InDatabase())
	}
	return names
}

// textList is a list of names, without its type.
func textList(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, strconv.Quote(name))
	}
	return "{" + strings.Join(quoted, ", ") + "}"
}

func references(t *model.Table) []code {
	var out []code
	for _, fk := range t.ForeignKeys {
		fields := fmt.Sprintf("Columns: []string%s, Table: %q", textList(inDatabase(fk.Columns)), fk.References.Name)
		if !restricts(fk) {
			fields += fmt.Sprintf(", OnDelete: %q", fk.OnDelete)
		}
		out = append(out, text("{%s}", fields))
	}
	return out
}

// written are the tables that a topic's statements change, also by cascades, in spec order.
func written(s *model.Service, t *model.Topic) []code {
	var out []code
	for _, table := range s.Tables {
		if slices.ContainsFunc(t.Flush, func(st *model.Step) bool {
			return st.Table == table || slices.Contains(st.Cascades, table)
		}) {
			out = append(out, lit(table.Name))
		}
	}
	return out
}
