package waves

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// joinSums lets one statement take the rows of all steps that gather sums of one shape, in the
// order of their events: so they share a wave, and none sees a sum that never was.
func joinSums(steps []*model.Step) {
	for i, st := range steps {
		if !joins(st) {
			continue
		}
		for _, o := range steps[i+1:] {
			if !joins(o) || !alike(st, o) {
				continue
			}
			if st.Joined == nil {
				st.Joined = []*model.Step{st}
			}
			st.Joined, o.Joins = append(st.Joined, o), st
		}
	}
}

func joins(st *model.Step) bool {
	return st.Sums && st.Gathers && !st.Makes && !st.Asks && st.Joins == nil
}

// alike reports whether two steps send the same columns, and differ in signs and at_least only.
func alike(a, b *model.Step) bool {
	for _, l := range a.If.AtLeast {
		if o, too := assignedTo(b.If.AtLeast, l.Column); too && o.Value.Const.Text != l.Value.Const.Text {
			return false
		}
	}
	same := func(x, y model.Assign) bool {
		if x.Column != y.Column || x.Value.Sent() != y.Value.Sent() {
			return false
		}
		if x.Value.Sent() {
			return a.TypeOf(x.Value).Kind == b.TypeOf(y.Value).Kind
		}
		return x.Value.Kind == model.ConstValue && y.Value.Kind == model.ConstValue && x.Value.Const.Text == y.Value.Const.Text
	}
	return a.Table == b.Table && a.If.Missing == b.If.Missing && slices.EqualFunc(a.Where, b.Where, same) && slices.EqualFunc(a.Set, b.Set, same)
}
