package check

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
)

// guard is what keeps late events from the step's rows: the column that if_newer compares, and by
// which columns of a row the row is found that holds it; "" is the row itself. The zero value
// guards nothing.
type guard struct {
	version *model.Column
	rows    string
}

// guardOf is the guard of the step itself, or of the step under whose then it stands. The latter
// guards what belongs to its own row only: rows that are found by all of its key.
func guardOf(st *draft.Step) guard {
	if st.Model.If.Newer != nil {
		return guard{version: st.Model.If.Newer}
	}
	if !underThen(st) || st.Under.Model.Many || st.Under.Model.If.Newer == nil {
		return guard{}
	}
	rows, found := holders(rowKey(st.Under), st)
	if !found {
		return guard{}
	}
	return guard{st.Under.Model.If.Newer, rows}
}

// underThen reports whether the step runs only if another one was applied.
func underThen(st *draft.Step) bool { return st.Under != nil && !st.Model.Under.Else }

// holders says which columns of a step's row hold the values of another key, or which constants
// these are: so rows of the step belong to the one that the key finds. It reports false if the row
// does not hold all of them.
func holders(key []model.Assign, st *draft.Step) (rows string, found bool) {
	for _, k := range key {
		if k.Value.Kind == model.ConstValue {
			rows += k.Column.Name + "=" + k.Value.Const.Text + "\n"
			continue
		}
		i := slices.IndexFunc(rowKey(st), func(a model.Assign) bool {
			return sameValue(a.Value, k.Value) && (a.Column.Type.Kind != model.ColCitext || k.Column.Type.Kind == model.ColCitext)
		})
		if i < 0 {
			return "", false
		}
		rows += k.Column.Name + ":" + rowKey(st)[i].Column.Name + "\n"
	}
	return rows, len(key) > 0
}

func sameValue(a, b model.Value) bool {
	part := draft.PartOf(a)
	return a.Kind == b.Kind && a.Field == b.Field || part != nil && part == draft.PartOf(b)
}

// onceOnly reports whether the step runs for one copy of an event only, whatever identifies the
// event: it stands under a step that finds what the first copy left, and that row stays.
func onceOnly(d *draft.Service, st *draft.Step) bool {
	if !underThen(st) {
		return false
	}
	of := st.Under
	switch {
	case of.Model.If.Exists == "skip":
		for _, c := range of.Model.By {
			if v, set := of.Set[of.Table.Of(c)]; !set || !sentByProducer(v.Model) {
				return false
			}
		}
	case of.Model.If.Newer == nil || !of.Model.Makes || !sentByProducer(of.Model.If.Version):
		return false
	}
	return !slices.ContainsFunc(d.Steps(), func(o *draft.Step) bool {
		return o.Model.Removes && o.Table != nil && slices.Contains(deletedWith(d.Tables, o.Table.Model), of.Table.Model)
	})
}

// sentByProducer reports whether all copies of an event have the value: the producer sent it, or
// the spec says it.
func sentByProducer(v model.Value) bool {
	switch v.Kind {
	case model.NowValue, model.NextValue:
		return false
	}
	return v.Field == nil || v.Field.Source.Kind != model.FromRecord
}
