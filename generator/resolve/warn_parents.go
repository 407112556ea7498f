package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// warnParents warns of parents that another topic creates (W905).
func warnParents(report *schema.Diagnostics, d *draft) {
	makers := makersOf(d.steps())
	for _, st := range d.steps() {
		if !st.whole {
			continue
		}
		for _, fk := range st.table.model.ForeignKeys {
			from := makers.elsewhere(fk.References, st.event.topic)
			if from != nil && !slices.Contains(makers[fk.References], st.event.topic) && setsAny(st, fk.Columns) {
				report.Add(st.spec.Verb.Pos, "W905", fmt.Sprintf("a row of %s may arrive before its parent in %s, which topic %s fills; it is then dead-lettered",
					quote(st.spec.Table.Value), quote(fk.References.Name), quote(from.spec.Name.Value)),
					"fill both from one topic, or do without the foreign key")
			}
		}
	}
}

func setsAny(st *step, columns []*model.Column) bool {
	return slices.ContainsFunc(st.model.Set, func(a model.Assign) bool {
		return a.Value.Kind != model.NullValue && slices.Contains(columns, a.Column)
	})
}
