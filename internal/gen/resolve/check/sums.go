package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkSums reports columns that one step overwrites and another one adds to (E513). A step that
// only makes rows is no overwrite.
func checkSums(report *syntax.Diagnostics, d *draft.Service) {
	adders := map[*draft.Column]*draft.Step{} // the first one of each column
	for _, st := range d.Steps() {
		for c, v := range st.Set {
			if (v.How == model.Adds || v.How == model.Subtracts) && adders[c] == nil && st.Whole {
				adders[c] = st
			}
		}
	}
	for _, st := range d.Steps() {
		if !st.Whole || !st.Model.Changes {
			continue
		}
		for _, c := range st.Table.Columns {
			v, sets := st.Set[c]
			adder := adders[c]
			if !sets || adder == nil || v.How != model.Overwrites || slices.Contains(st.Model.By, c.Model) {
				continue
			}
			hint := "leave it out here with leave: or keep:"
			if st.Model.OnlyChanges() {
				hint = "remove it from set here"
			}
			report.Add(st.Spec.Verb.Pos, "E513", fmt.Sprintf("%s is overwritten here and added to by event %s: an overwrite would lose additions",
				c.Is(), wording.Quote(adder.Event.Spec.Name.Value)), "let only one kind of step write the column, or "+hint)
			break
		}
	}
}
