package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// warnGuard warns of guards too coarse to tell two changes apart (W901).
func warnGuard(report *schema.Diagnostics, st *step) {
	if st.model.IfNewer == nil {
		return
	}
	unit := ""
	switch f := st.model.Newer.Field; {
	case st.table.of(st.model.IfNewer).model.Type.Kind == model.ColDate:
		unit = "on one day"
	case f != nil && f.Type.Notation == model.EpochSeconds:
		unit = "in one second"
	default:
		return
	}
	report.Add(st.spec.IfNewer.Pos, "W901", fmt.Sprintf("if_newer: %s: of two changes %s only the first is applied", st.model.IfNewer.Name, unit), "use a version that grows with every change")
}
