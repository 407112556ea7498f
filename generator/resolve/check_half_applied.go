package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/schema"
)

// checkHalfApplied reports steps without if_newer beside one that has it (E507).
func checkHalfApplied(report *schema.Diagnostics, e *event) {
	i := slices.IndexFunc(e.steps, func(st *step) bool { return st.spec.IfNewer != nil })
	if i < 0 {
		return
	}
	for _, st := range e.steps {
		if st.spec.IfNewer == nil && st.table != nil {
			report.Add(st.spec.Verb.Pos, "E507", fmt.Sprintf("a stale %s would be applied in part: %s has if_newer, this %s has no guard", quote(e.spec.Name.Value), e.steps[i].is(), st.spec.Verb.Value),
				"add if_newer here too, with a column of this table (an insert has none: use upsert), or drop it there")
		}
	}
}
