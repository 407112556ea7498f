package gocode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// tables are the elements of wire.Service.Tables: one line for a table with few facts, else a
// line for each fact.
func tables(s *model.Service) []code {
	const few = 2
	var out []code
	for _, t := range s.Tables {
		facts := tableFacts(s, t)
		if len(facts) <= few {
			out = append(out, text("{%s}", strings.Join(facts, ", ")))
			continue
		}
		var lines []code
		for _, fact := range facts {
			lines = append(lines, text("%s", fact))
		}
		out = append(out, composite(text(""), lines))
	}
	return out
}

// tableFacts are the fields of a wire.Table.
func tableFacts(s *model.Service, t *model.Table) []string {
	keys := []string{textList(t.PrimaryKey)}
	for _, u := range t.Unique {
		keys = append(keys, textList(u))
	}
	facts := []string{fmt.Sprintf("Name: %q", t.Name), "Unique: [][]string{" + strings.Join(keys, ", ") + "}"}
	nullable := slices.DeleteFunc(slices.Clone(t.Columns), func(c *model.Column) bool { return !c.Nullable })
	if len(nullable) > 0 {
		facts = append(facts, "Nullable: []string"+textList(nullable))
	}
	if len(t.ForeignKeys) > 0 {
		facts = append(facts, "References: []wire.Reference{"+strings.Join(references(t), ", ")+"}")
	}
	if onlyInserts(s, t) {
		facts = append(facts, "InsertOnly: true")
	}
	if t.Unlogged {
		facts = append(facts, "Unlogged: true")
	}
	return facts
}

// textList is a list of columns, without its type.
func textList(columns []*model.Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, strconv.Quote(c.Name))
	}
	return "{" + strings.Join(names, ", ") + "}"
}

func references(t *model.Table) []string {
	var out []string
	for _, fk := range t.ForeignKeys {
		fields := fmt.Sprintf("Columns: []string%s, Table: %q", textList(fk.Columns), fk.References.Name)
		if !restricts(fk) {
			fields += fmt.Sprintf(", OnDelete: %q", fk.OnDelete)
		}
		out = append(out, "{"+fields+"}")
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
