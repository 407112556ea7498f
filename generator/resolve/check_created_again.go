package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// checkCreatedAgain reports a delete of rows that another topic creates (E504).
func checkCreatedAgain(report *schema.Diagnostics, d *draft) {
	makers := makersOf(d.steps())
	for _, st := range d.steps() {
		if !st.whole || st.event.topic.orderUnknown || !st.model.Removes || !ordered(st) { // else checkOrder reports it
			continue
		}
		if other := makers.elsewhere(st.table.model, st.event.topic); other != nil {
			report.Add(st.spec.Verb.Pos, "E504", fmt.Sprintf("%s: a late event could create the deleted row again: topic %s creates rows of %s too, and nothing orders the two topics against each other",
				st.event.is(), quote(other.spec.Name.Value), quote(st.spec.Table.Value)), "keep the row and mark it with update")
		}
	}
}

// makers are the topics that make rows of a table, in spec order.
type makers map[*model.Table][]*topic

func makersOf(steps []*step) makers {
	m := makers{}
	for _, st := range steps {
		if t := st.table.model; st.model.Makes && !slices.Contains(m[t], st.event.topic) {
			m[t] = append(m[t], st.event.topic)
		}
	}
	return m
}

// elsewhere is the first other topic that makes rows of a table, or nil.
func (m makers) elsewhere(table *model.Table, here *topic) *topic {
	for _, t := range m[table] {
		if t != here {
			return t
		}
	}
	return nil
}
