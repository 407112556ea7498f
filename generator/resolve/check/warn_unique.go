package check

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// warnUnique warns of unique keys that can refuse a step that changes the row that it finds
// (W904).
func warnUnique(report *schema.Diagnostics, st *draft.Step) {
	if !st.Model.Makes || !st.Model.Changes {
		return
	}
	var others []string
	for _, key := range st.Table.Keys() {
		filled := true // a key that the database makes does not clash
		for _, c := range key {
			_, set := st.Set[st.Table.Of(c)]
			filled = filled && set
		}
		if filled && !model.SameColumns(key, st.Model.By) {
			others = append(others, wording.Bracketed(model.ColumnNames(key)))
		}
	}
	if len(others) > 0 {
		finder := "by: "
		if st.Model.Sums {
			finder = "where: "
		}
		report.Warn(st.Event.Accept(), st.Spec.Verb.Pos, "W904", fmt.Sprintf("%s is also unique by %s: a conflict there dead-letters the event", wording.Quote(st.Spec.Table.Value), strings.Join(others, " and ")),
			"if that is meant, all is well; to find the row by such a key, name it: "+finder+others[0])
	}
}
