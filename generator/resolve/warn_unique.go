package resolve

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/schema"
)

// warnUnique warns of unique keys that can refuse a step that changes the row that it finds (W904).
func warnUnique(report *schema.Diagnostics, st *step) {
	if !st.model.Makes || !st.model.Changes {
		return
	}
	var others []string
	for _, key := range st.table.keys() {
		filled := true // a key that the database makes does not clash
		for _, c := range key {
			_, set := st.set[st.table.of(c)]
			filled = filled && set
		}
		if filled && !sameColumns(key, st.model.By) {
			others = append(others, bracketed(columnNames(key)))
		}
	}
	if len(others) > 0 {
		report.Add(st.spec.Verb.Pos, "W904", fmt.Sprintf("%s is also unique by %s: a conflict there dead-letters the event", quote(st.spec.Table.Value), strings.Join(others, " and ")),
			"if that is meant, all is well; to find the row by such a key, name it: by: "+others[0])
	}
}
