package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// checkOrder reports a step that a late event of the topic could make wrong: an
// overwrite (E503) or a delete that is undone (E504).
func checkOrder(report *schema.Diagnostics, d *draft) {
	writers := writersOf(d.steps())
	for _, st := range d.steps() {
		if !st.whole || st.event.topic.orderUnknown || ordered(st) || st.model.OnlyMakes() {
			continue
		}
		topic := st.event.topic
		switch {
		case st.model.Removes:
			report.Add(st.spec.Verb.Pos, "E504", fmt.Sprintf("%s: a late event could create the deleted row again: %s", st.event.is(), whyUnordered(st)),
				"keep the row and mark it with update"+orIfOrdered(topic))
		case st.spec.IfNewer == nil && !writers.sameAtAnyTime(st):
			report.Add(st.spec.Verb.Pos, "E503", fmt.Sprintf("%s: an older event could overwrite a newer one: %s", st.event.is(), whyUnordered(st)),
				"add if_newer: <version or time column>"+orIfOrdered(topic))
		}
	}
}

// orIfOrdered is the end of a hint: what the topic could state about its order.
func orIfOrdered(t *topic) string {
	switch {
	case t.key == nil:
		return ", or declare record_key and assume: {ordered_by: record_key}"
	case !t.model.Ordered:
		return ", or state assume: {ordered_by: record_key} if that holds"
	}
	return ""
}

// writers counts the steps of the spec that write a column, and those of them that only make
// rows.
type writers struct {
	all    map[*column]int
	makers map[*column]int
}

func writersOf(steps []*step) writers {
	w := writers{all: map[*column]int{}, makers: map[*column]int{}}
	for _, st := range steps {
		for c := range st.set {
			w.all[c]++
			if st.model.OnlyMakes() {
				w.makers[c]++
			}
		}
	}
	return w
}

// sameAtAnyTime reports whether a step that only changes rows writes only constants, into
// columns that no other step writes: then it does not matter when it runs. The transaction's time
// counts as one: it says when a record was last applied, whatever the order of the records. A
// step that only makes rows does not count as another writer, because before it there is no row
// to change; unless that is skipped.
func (w writers) sameAtAnyTime(st *step) bool {
	if !st.model.OnlyChanges() {
		return false
	}
	for c, v := range st.set {
		switch v.model.Kind {
		case model.ConstValue, model.NullValue, model.NowValue:
		default:
			return false
		}
		others := w.all[c] - 1
		if st.model.IfMissing != "skip" {
			others -= w.makers[c]
		}
		if others > 0 {
			return false
		}
	}
	return true
}
