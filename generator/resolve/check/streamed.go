package check

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
)

// stream is a kind of streams whose positions order what their events write: the column that
// numbers them, and the columns by which rows of a table belong to one of them. The zero value
// orders nothing.
type stream struct {
	position *model.Column
	rows     string
}

// streamOf is what orders a step by the positions that producers set. An append with expect takes
// effect in the order of its positions or not at all, and so does all of its event. So the rows
// that are found by what names its stream change in that order, whatever the order of the topic.
func streamOf(d *draft.Service, st *draft.Step) stream {
	for _, a := range st.Event.Steps {
		if a.Table == nil || !a.Whole || a.Under != nil || a.Model.Stream == nil || a.Spec.Own.Expect == nil || rewritten(d, a) {
			continue
		}
		var names []model.Assign
		for _, c := range a.Model.Stream.Columns {
			names = append(names, model.Assign{Column: c, Value: a.Set[a.Table.Of(c)].Model})
		}
		if rows, found := holders(names, st); found {
			return stream{a.Model.Stream.Position, rows}
		}
	}
	return stream{}
}

// rewritten reports whether a step takes positions of an append's streams back.
func rewritten(d *draft.Service, a *draft.Step) bool {
	numbered := append(slices.Clone(a.Model.Stream.Columns), a.Model.Stream.Position)
	return slices.ContainsFunc(d.Steps(), func(o *draft.Step) bool {
		if o.Model.Removes && slices.Contains(deletedWith(d.Tables, o.Table.Model), a.Table.Model) {
			return true
		}
		return o.Table == a.Table && o.Model.Changes && slices.ContainsFunc(numbered, func(c *model.Column) bool {
			_, writes := o.Set[o.Table.Of(c)]
			return writes && !slices.Contains(o.Model.By, c)
		})
	})
}
