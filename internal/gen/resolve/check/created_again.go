package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkCreatedAgain reports a delete of rows that another topic, or an event of another record
// key, creates (E504).
func checkCreatedAgain(report *syntax.Diagnostics, d *draft.Service) {
	makers, all := makersOf(d.Steps()), map[*draft.Step]filled{}
	for _, st := range d.Steps() {
		if !st.Whole || st.Event.Topic.OrderUnknown || !st.Model.Removes || !ordered(st) { // else checkOrder reports it
			continue
		}
		if other := makers.elsewhere(st.Table.Model, st.Event.Topic); other != nil {
			report.Add(st.Spec.Verb.Pos, "E504", fmt.Sprintf("%s: a late event could create the deleted row again: topic %s also creates rows of %s, and nothing orders the two topics relative to each other",
				st.Event.Is(), wording.Quote(other.Spec.Name.Value), wording.Quote(st.Spec.Table.Value)), "keep the row and mark it with update")
			continue
		}
		own := filledBy(st)
		apart := func(o *draft.Step) bool {
			if !o.Whole || !o.Model.Makes || o.Table != st.Table || o.Event.Topic != st.Event.Topic || !ordered(o) {
				return false
			}
			if all[o] == nil {
				all[o] = filledBy(o)
			}
			return !sameRecordKey(st.Event.Topic, all[o], own)
		}
		if i := slices.IndexFunc(d.Steps(), apart); i >= 0 {
			report.Add(st.Spec.Verb.Pos, "E504", fmt.Sprintf("%s: a late event could create the deleted row again: event %s also creates rows of %s, of other record keys",
				st.Event.Is(), wording.Quote(d.Steps()[i].Event.Spec.Name.Value), wording.Quote(st.Spec.Table.Value)), "keep the row and mark it with update")
		}
	}
}

// makers are the topics that make rows of a table, in spec order.
type makers map[*model.Table][]*draft.Topic

func makersOf(steps []*draft.Step) makers {
	m := makers{}
	for _, st := range steps {
		if t := st.Table.Model; st.Model.Makes && !slices.Contains(m[t], st.Event.Topic) {
			m[t] = append(m[t], st.Event.Topic)
		}
	}
	return m
}

// elsewhere is the first other topic that makes rows of a table, or nil.
func (m makers) elsewhere(table *model.Table, here *draft.Topic) *draft.Topic {
	for _, t := range m[table] {
		if t != here {
			return t
		}
	}
	return nil
}
