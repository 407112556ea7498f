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
	i := slices.IndexFunc(e.Steps, func(st *draft.Step) bool { return st.Spec.If.Newer != nil })
	for _, st := range e.Steps {
		always := st.Spec.If.Always != nil && st.Spec.If.Always.Value
		guarded := st.Spec.If.Newer != nil
		switch {
		case always && i < 0:
			report.Add(st.Spec.If.Always.Key, "E507", fmt.Sprintf("always means nothing here: no step of %s has if_newer", wording.Quote(e.Spec.Name.Value)), "drop it")
		case always && guarded:
			report.Add(st.Spec.If.Always.Key, "E507", "always and if_newer contradict each other: the step runs for every event, or for newer ones only", "keep one of them")
		case i >= 0 && !always && !guarded && st.Table != nil:
			report.Add(st.Spec.Verb.Pos, "E507", fmt.Sprintf("a stale %s would be applied in part: %s has if_newer, this %s has no guard", wording.Quote(e.Spec.Name.Value), e.Steps[i].Is(), st.Spec.Verb.Value),
				"guard it too, with a column of this table (an insert has none: use upsert), or state always: true if it is right for stale events, too")
		}
	}
}
