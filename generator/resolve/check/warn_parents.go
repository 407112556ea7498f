package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// warnParents warns of parents that another topic creates (W905).
func warnParents(report *schema.Diagnostics, d *draft.Service) {
	makers := makersOf(d.Steps())
	for _, st := range d.Steps() {
		if !st.Whole {
			continue
		}
		for _, fk := range st.Table.Model.ForeignKeys {
			from := makers.elsewhere(fk.References, st.Event.Topic)
			if from != nil && !slices.Contains(makers[fk.References], st.Event.Topic) && setsAny(st, fk.Columns) {
				report.Warn(st.Event.Accept(), st.Spec.Verb.Pos, "W905", fmt.Sprintf("a row of %s may arrive before its parent in %s, which topic %s fills; it is then dead-lettered",
					wording.Quote(st.Spec.Table.Value), wording.Quote(fk.References.Name), wording.Quote(from.Spec.Name.Value)),
					"fill both from one topic, or do without the foreign key")
			}
		}
	}
}

func setsAny(st *draft.Step, columns []*model.Column) bool {
	return slices.ContainsFunc(st.Model.Set, func(a model.Assign) bool {
		return a.Value.Kind != model.NullValue && slices.Contains(columns, a.Column)
	})
}
