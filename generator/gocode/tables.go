package gocode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
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

// tableFacts are the fields of a wire.Table.
func (p *pkg) tableFacts(t *model.Table) []code {
	keys := []code{text("%s", textList(t.PrimaryKey))}
	for _, u := range t.Unique {
		keys = append(keys, text("%s", textList(u)))
	}
	facts := []code{pair("Name", lit(t.Name))}
	if name := p.tableName(t); name != "" {
		facts = append(facts, pair("SQL", lit(name)))
	}
	facts = append(facts, pair("Unique", composite(text("[][]string"), keys)))
	var columns []code
	for _, c := range t.Columns {
		columns = append(columns, columnFacts(p.service, c))
	}
	facts = append(facts, pair("Columns", composite(slice(wire("Column")), columns)))
	if needed := rights(p.service, t); len(needed) > 0 {
		facts = append(facts, pair("Rights", text("[]string").Values(literals(needed)...)))
	}
	if len(t.ForeignKeys) > 0 {
		facts = append(facts, pair("References", composite(slice(wire("Reference")), references(t))))
	}
	return facts
}

// columnFacts is a wire.Column, on one line.
func columnFacts(s *model.Service, c *model.Column) code {
	fields := fmt.Sprintf("Name: %q, Type: %q", c.InDatabase(), c.Type.String())
	for _, f := range []struct {
		name  string
		holds bool
	}{{"Nullable", c.Nullable}, {"Filled", c.ByDatabase()}, {"Default", c.Default != nil}} {
		if f.holds {
			fields += ", " + f.name + ": true"
		}
	}
	for _, f := range []struct{ name, event string }{{"Left", left(s, c)}, {"Null", null(s, c)}} {
		if f.event != "" {
			fields += fmt.Sprintf(", %s: %q", f.name, f.event)
		}
	}
	if written := texts(s, c); len(written) > 0 {
		fields += fmt.Sprintf(", Texts: %#v", written)
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

// textList is a list of columns, by their names in the database, without its type.
func textList(columns []*model.Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, strconv.Quote(c.InDatabase()))
	}
	return "{" + strings.Join(names, ", ") + "}"
}

func references(t *model.Table) []code {
	var out []code
	for _, fk := range t.ForeignKeys {
		fields := fmt.Sprintf("Columns: []string%s, Table: %q", textList(fk.Columns), fk.References.Name)
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
