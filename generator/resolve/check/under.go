package check

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
)

// guardOf is the column by which if_newer keeps late events from the step's rows: that of the step
// itself, or of the step under whose then it stands. The latter guards what belongs to its own row
// only: rows that are found by all of its key.
func guardOf(st *draft.Step) *model.Column {
	switch {
	case st.Model.If.Newer != nil:
		return st.Model.If.Newer
	case underThen(st) && !st.Under.Model.Many && belongsTo(st, st.Under):
		return st.Under.Model.If.Newer
	}
	return nil
}

// underThen reports whether the step runs only if another one was applied.
func underThen(st *draft.Step) bool { return st.Under != nil && !st.Model.Under.Else }

func belongsTo(st, of *draft.Step) bool {
	for _, named := range rowKey(of) {
		if named.Value.Kind != model.ConstValue && !slices.ContainsFunc(rowKey(st), func(a model.Assign) bool { return sameValue(a.Value, named.Value) }) {
			return false
		}
	}
	return len(rowKey(of)) > 0
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
