package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkHalfApplied reports steps without if_newer beside one that has it (E507).
func checkHalfApplied(report *schema.Diagnostics, e *draft.Event) {
	i := slices.IndexFunc(e.Steps, func(st *draft.Step) bool { return st.Spec.If.Newer != nil })
	if i < 0 {
		return
	}
	for _, st := range e.Steps {
		if st.Spec.If.Newer == nil && st.Table != nil {
			report.Add(st.Spec.Verb.Pos, "E507", fmt.Sprintf("a stale %s would be applied in part: %s has if_newer, this %s has no guard", wording.Quote(e.Spec.Name.Value), e.Steps[i].Is(), st.Spec.Verb.Value),
				"add if_newer here too, with a column of this table (an insert has none: use upsert), or drop it there")
		}
	}
}
