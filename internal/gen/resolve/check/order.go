package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkOrder reports a step that a late event of the topic could make wrong: an
// overwrite (E503) or a delete that is undone (E504).
func checkOrder(report *syntax.Diagnostics, d *draft.Service) {
	writers := writersOf(d.Steps())
	for _, st := range d.Steps() {
		if !st.Whole || st.Event.Topic.OrderUnknown || ordered(st) || st.Model.OnlyMakes() || st.Model.Sums {
			continue
		}
		topic := st.Event.Topic
		switch {
		case st.Model.Removes:
			hint := "keep the row and mark it with update"
			if slices.ContainsFunc(st.Event.Steps, func(o *draft.Step) bool { return o != st && o.Spec.If.Newer != nil }) {
				hint = "replace the rows in a handler that checks whether the other row has this version"
			}
			report.Add(st.Spec.Verb.Pos, "E504", fmt.Sprintf("%s: a late event could create the deleted row again: %s", st.Event.Is(), whyUnordered(st)),
				hint+orIfOrdered(topic))
		case writesPatches(st):
			loss, hint := "would be lost", wholeValues
			if st.Spec.If.Newer == nil {
				loss, hint = "could overwrite a newer one", wholeValues+", with if_newer"
			}
			report.Add(st.Spec.Verb.Pos, "E503", fmt.Sprintf("%s: a late patch %s: %s", st.Event.Is(), loss, whyUnordered(st)), hint+orIfOrdered(topic))
		case st.Spec.If.Newer == nil && !writers.sameAtAnyTime(st):
			report.Add(st.Spec.Verb.Pos, "E503", fmt.Sprintf("%s: an older event could overwrite a newer one: %s", st.Event.Is(), whyUnordered(st)),
				"add if_newer: <version or time column>"+orIfOrdered(topic))
		}
	}
}

// writesPatches reports whether the step leaves columns as they are that an event does not hold.
// if_newer cannot tell such events apart: a late one is refused as a whole, although the newer one
// did not write what it holds.
func writesPatches(st *draft.Step) bool {
	return st.Model.Changes && slices.ContainsFunc(st.Model.Set, func(a model.Assign) bool { return a.Value.Patch() })
}

// orIfOrdered is the end of a hint: what the topic could state about its order.
func orIfOrdered(t *draft.Topic) string {
	switch {
	case t.Key == nil:
		return ", or declare record_key and assume: [ordered]"
	case !t.Model.Ordered:
		return ", or state assume: [ordered] if that holds"
	case t.Model.Apart():
		return ", or " + whichTopic
	}
	return ""
}

// writers counts the steps of the spec that write a column of rows that are there, and tells if
// one of them may change it: an upsert does not change the columns by which it finds a row.
type writers struct {
	count   map[*draft.Column]int
	changed map[*draft.Column]bool
}

func writersOf(steps []*draft.Step) writers {
	w := writers{map[*draft.Column]int{}, map[*draft.Column]bool{}}
	for _, st := range steps {
		for c, v := range st.Set {
			if !st.Model.OnlyMakes() && v.How != model.Keeps {
				w.count[c]++
				w.changed[c] = w.changed[c] || !slices.Contains(st.Model.By, c.Model)
			}
		}
	}
	return w
}

// sameAtAnyTime reports whether a step that only changes rows writes only constants, into
// columns that no other step writes, and finds its rows by columns that no step changes: then it
// does not matter when it runs. The transaction's time
// counts as one: it says when a record was last applied, whatever the order of the records. A
// step that only makes rows does not count as another writer, because before it there is no row
// to change: what a step that skips then loses is checkTooEarly's.
func (w writers) sameAtAnyTime(st *draft.Step) bool {
	if !st.Model.OnlyChanges() {
		return false
	}
	for c, v := range st.Set {
		switch v.Model.Kind {
		case model.ConstValue, model.NullValue, model.NowValue:
		default:
			return false
		}
		if w.count[c] > 1 {
			return false
		}
	}
	return !slices.ContainsFunc(st.Model.RowKey(), func(a model.Assign) bool { return w.changed[st.Table.Of(a.Column)] })
}
