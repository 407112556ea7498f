package check

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// warnHot warns of steps that cannot take two events of one row at once (W907).
func warnHot(report *schema.Diagnostics, st *draft.Step) {
	if st.Model.If.Below == "skip" {
		report.Warn(st.Event.Accept(), st.Spec.If.Below.Key, "W907", fmt.Sprintf("events of one row of %s run one after the other: whether one is skipped depends on those before it", wording.Quote(st.Spec.Table.Value)),
			"with if_below: error, events of one row are added up")
	}
}
