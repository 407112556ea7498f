package waves

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Plan decides what docs/design.md, "Waves", needs to know of every step: its place
// in a wave, its name, and which rows and tables it touches.
func Plan(s *model.Service) {
	parentsFirst := model.ParentsFirst(s.Tables)
	for _, t := range s.Topics {
		t.Flush = flushOrder(t, parentsFirst)
		for _, e := range t.Events {
			nameSteps(e)
		}
		for _, st := range t.Flush {
			st.Whole = whole(st)
			st.Reads = Reads(st)
			for _, fk := range st.Table.ForeignKeys {
				if Unlinks(st, fk) {
					st.Unlinks = append(st.Unlinks, fk)
				}
			}
			if st.Removes {
				st.Cascades = cascades(st.Table, s.Tables)
			}
			st.Collapse = collapse(st, t)
			st.Gathers = st.Sums && !st.Whole
			st.Contended = contended(st, t, s.Topics)
		}
	}
}

// flushOrder lists the steps of a topic as their statements run within a wave: table by table,
// parents first, the steps that leave rows there; then, children first, those that remove rows.
func flushOrder(t *model.Topic, parentsFirst []*model.Table) []*model.Step {
	var out []*model.Step
	add := func(table *model.Table, wanted func(*model.Step) bool) {
		for _, e := range t.Events {
			for _, st := range e.Steps {
				if st.Table == table && wanted(st) {
					out = append(out, st)
				}
			}
		}
	}
	for _, table := range parentsFirst {
		add(table, func(st *model.Step) bool { return st.OnlyMakes() })
		add(table, func(st *model.Step) bool { return st.Makes && !st.OnlyMakes() })
		add(table, func(st *model.Step) bool { return st.OnlyChanges() && takes(st) })
		add(table, func(st *model.Step) bool { return st.OnlyChanges() && !takes(st) })
	}
	for _, table := range slices.Backward(parentsFirst) {
		add(table, func(st *model.Step) bool { return st.Removes })
	}
	return out
}

// takes reports whether the step subtracts. Such a statement runs before those that add, so that
// a CHECK sees the lowest sum that the events of a batch lead to.
func takes(st *model.Step) bool {
	return slices.ContainsFunc(st.Set, func(a model.Assign) bool { return a.How == model.Subtracts })
}

// nameSteps gives every step of an event its Go name: event, verb and table, so that no
// name depends on what other events do. Of several steps that have that in common the
// second and later ones get a number, in spec order.
func nameSteps(e *model.Event) {
	taken := map[string]bool{}
	for _, st := range e.Steps {
		base := StepName(st)
		st.GoName = base
		for n := 2; taken[st.GoName]; n++ {
			st.GoName = fmt.Sprintf("%s%d", base, n)
		}
		taken[st.GoName] = true
	}
}

// StepName is event, verb and table of a step as one Go name.
func StepName(st *model.Step) string {
	return st.Event.GoName + strings.ToUpper(st.Verb[:1]) + st.Verb[1:] + st.Table.GoName
}

// contended reports whether another partition may change rows of the step at the same time: the
// topic does not order them, or another topic changes rows of the table, too. What handlers do is
// not known.
func contended(st *model.Step, t *model.Topic, topics []*model.Topic) bool {
	switch {
	case st.OnlyMakes():
		return false
	case !st.InOrder(t):
		return true
	}
	return slices.ContainsFunc(topics, func(other *model.Topic) bool {
		return other != t && slices.ContainsFunc(other.Events, func(e *model.Event) bool {
			return slices.ContainsFunc(e.Steps, func(o *model.Step) bool { return o.Table == st.Table && !o.OnlyMakes() })
		})
	})
}
