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
		if rows, found := streamedBy(a, st); found {
			return stream{a.Model.Stream.Position, rows}
		}
	}
	return stream{}
}

// streamedBy says by which columns of its row a step belongs to the stream of an append.
func streamedBy(a, st *draft.Step) (rows string, found bool) {
	for _, c := range a.Model.Stream.Columns {
		v := a.Set[a.Table.Of(c)].Model
		if v.Kind == model.ConstValue {
			rows += c.Name + "=" + v.Const.Text + "\n"
			continue
		}
		i := slices.IndexFunc(rowKey(st), func(k model.Assign) bool {
			return sameValue(k.Value, v) && (k.Column.Type.Kind != model.ColCitext || c.Type.Kind == model.ColCitext)
		})
		if i < 0 {
			return "", false
		}
		rows += c.Name + ":" + rowKey(st)[i].Column.Name + "\n"
	}
	return rows, true
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
