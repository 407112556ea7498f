package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkHalfApplied reports steps that neither have if_newer nor say always, beside one that has
// if_newer; and an always that says nothing (E507).
func checkHalfApplied(report *schema.Diagnostics, e *draft.Event) {
	guarded := func(st *draft.Step) bool { return st.Spec.If.Newer != nil }
	none := !slices.ContainsFunc(e.Steps, guarded)
	for _, st := range e.Steps {
		always := st.Spec.If.Always != nil && st.Spec.If.Always.Value
		switch {
		case always && none:
			report.Add(st.Spec.If.Always.Key, "E507", fmt.Sprintf("always means nothing here: no step of %s has if_newer", wording.Quote(e.Spec.Name.Value)), "drop it")
		case always && guarded(st):
			report.Add(st.Spec.If.Always.Key, "E507", "always and if_newer contradict each other: the step runs for every event, or for newer ones only", "keep one of them")
		case always && st.Under != nil && guarded(st.Under):
			report.Add(st.Spec.If.Always.Key, "E507", fmt.Sprintf("always means nothing here: %s decides whether this step runs", st.Under.Is()), "drop it, or write the step beside that one")
		case always || guarded(st) || st.Table == nil || st.Under != nil && guarded(st.Under):
		default:
			beside := func(o *draft.Step) bool { return guarded(o) && o.Under != st }
			if i := slices.IndexFunc(e.Steps, beside); i >= 0 {
				report.Add(st.Spec.Verb.Pos, "E507", fmt.Sprintf("a stale %s would be applied in part: %s has if_newer, this %s has no guard", wording.Quote(e.Spec.Name.Value), e.Steps[i].Is(), st.Spec.Verb.Value),
					wholly(st))
			}
		}
	}
}

// wholly says how a step keeps up with the guarded one beside it.
func wholly(st *draft.Step) string {
	switch {
	case st.Model.Stream != nil && st.Spec.Own.Expect != nil:
		return "state always: true: without the position of a stale event its stream could not go on"
	case st.Model.OnlyMakes(), st.Model.Sums:
		return `put it under "then" of the guarded step, or state always: true`
	}
	return `put it under "then" of the guarded step, guard it too, or state always: true`
}
