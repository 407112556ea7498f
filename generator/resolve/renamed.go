package resolve

import (
	"slices"

	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// renamedTables reads the earlier names of tables and columns. E609: each thing has one name,
// and no two things had the same one.
func renamedTables(report *schema.Diagnostics, tables *draft.Tables) {
	former := map[string]string{}
	for _, t := range tables.All {
		if from := t.Spec.RenamedFrom; from != nil && t.Model.External {
			meansNothing(report, t, from.Key, "renamed_from", "a table that others rename has its new name here, or under name")
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
