package check

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// warnGuard warns of guards too coarse to tell two changes apart (W901).
func warnGuard(report *schema.Diagnostics, st *draft.Step) {
	if st.Model.If.Newer == nil {
		return
	}
	unit := ""
	switch f := st.Model.If.Version.Field; {
	case st.Table.Of(st.Model.If.Newer).Model.Type.Kind == model.ColDate:
		unit = "on one day"
	case f != nil && f.Type.Notation == model.EpochSeconds:
		unit = "in one second"
	default:
		return
	}
	report.Warn(st.Event.Accept(), st.Spec.If.Newer.Pos, "W901", fmt.Sprintf("if_newer: %s: of two changes %s only the first is applied", st.Model.If.Newer.Name, unit), "use a version that grows with every change")
}
