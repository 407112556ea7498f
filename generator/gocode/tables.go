package gocode

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// tables are the elements of wire.Service.Tables, one line each.
func tables(s *model.Service) []code {
	var out []code
	for _, t := range s.Tables {
		keys := []string{textList(t.PrimaryKey)}
		for _, u := range t.Unique {
			keys = append(keys, textList(u))
		}
		fields := []code{pair("Name", lit(t.Name)), pair("Unique", text("[][]string{%s}", strings.Join(keys, ", ")))}
		nullable := slices.DeleteFunc(slices.Clone(t.Columns), func(c *model.Column) bool { return !c.Nullable })
		if len(nullable) > 0 {
			fields = append(fields, pair("Nullable", text("[]string%s", textList(nullable))))
		}
		if len(t.ForeignKeys) > 0 {
			fields = append(fields, pair("References", text("[]").Add(wire("Reference")).Values(references(t)...)))
		}
		if onlyInserts(s, t) {
			fields = append(fields, text("InsertOnly: true"))
		}
		if t.Unlogged {
			fields = append(fields, text("Unlogged: true"))
		}
		out = append(out, text("").Values(fields...))
	}
	return out
}

// textList is a list of columns, without its type.
func textList(columns []*model.Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, strconv.Quote(c.Name))
	}
	return "{" + strings.Join(names, ", ") + "}"
}

func references(t *model.Table) []code {
	var out []code
	for _, fk := range t.ForeignKeys {
		fields := []code{pair("Columns", text("[]string%s", textList(fk.Columns))), pair("Table", lit(fk.References.Name))}
		if !restricts(fk) {
			fields = append(fields, pair("OnDelete", lit(fk.OnDelete)))
		}
		out = append(out, text("").Values(fields...))
	}
	return out
}

// onlyInserts reports whether steps write a table, and do nothing but insert.
func onlyInserts(s *model.Service, table *model.Table) bool {
	written := false
	for _, t := range s.Topics {
		for _, st := range t.Flush {
			if st.Table == table {
				written = true
				if !st.OnlyMakes() {
					return false
				}
			}
		}
	}
	return written
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
