package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// renamedTables reads the earlier names of tables and columns. E609: each thing has one name,
// and no two things had the same one.
func renamedTables(report *schema.Diagnostics, tables *draft.Tables) {
	former := map[string]string{}
	for _, t := range tables.All {
		if from := t.Spec.RenamedFrom; from != nil && external(t) {
			meansNothing(report, t, from.Pos, "renamed_from", "a table that others rename has its new name here, or under name")
		} else if from != nil && formerName(report, *from, "table", t.Spec.Name.Value, has(tables, from.Value), former) {
			t.Model.RenamedFrom = from.Value
		}
		columns := map[string]string{}
		for _, c := range t.Columns {
			if from := c.Spec.RenamedFrom; from != nil && formerName(report, *from, "column", c.Spec.Name.Value, t.Column(from.Value) != nil, columns) {
				c.Model.RenamedFrom = from.Value
			}
		}
	}
}

func has(tables *draft.Tables, name string) bool {
	return slices.ContainsFunc(tables.All, func(t *draft.Table) bool { return t.Spec.Name.Value == name })
}

// formerName checks an earlier name of one table or column. There says that the spec has
// something of that name today; former holds those that were read before.
func formerName(report *schema.Diagnostics, from schema.Text, what, name string, there bool, former map[string]string) bool {
	other, twice := former[from.Value]
	former[from.Value] = name
	switch {
	case from.Value == name:
		report.Add(from.Pos, "E609", fmt.Sprintf("renamed_from of %s %s is its own name", what, wording.Quote(name)), "drop renamed_from, or write the name that it had before")
	case there:
		report.Add(from.Pos, "E609", fmt.Sprintf("%s %s is in the spec, so %s cannot be what became of it", what, wording.Quote(from.Value), wording.Quote(name)),
			"drop renamed_from, or the entry of that name; to exchange two names, do it in two steps")
	case twice:
		report.Add(from.Pos, "E609", fmt.Sprintf("%ss %s and %s cannot both have been %s", what, wording.Quote(other), wording.Quote(name), wording.Quote(from.Value)), "keep renamed_from of one of them")
	default:
		return true
	}
	return false
}
