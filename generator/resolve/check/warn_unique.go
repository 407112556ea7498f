package check

import (
	"cmp"
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
	finder := "" // the first that is one
	for _, key := range st.Table.Keys() {
		filled := true // a key that the database makes does not clash
		for _, c := range key {
			_, set := st.Set[st.Table.Of(c)]
			filled = filled && set
		}
		if filled && !model.SameColumns(key, st.Model.By) {
			finder = cmp.Or(finder, finds(st, key))
			others = append(others, wording.Bracketed(model.ColumnNames(key)))
		}
	}
	hint := "if that is meant, all is well"
	if finder != "" {
		hint += "; to find the row by such a key, name it: " + finder
	}
	if len(others) > 0 {
		report.Warn(st.Event.Accept(), st.Spec.Verb.Pos, "W904", fmt.Sprintf("%s is also unique by %s: a conflict there dead-letters the event", wording.Quote(st.Spec.Table.Value), strings.Join(others, " and ")),
			hint)
	}
}

// finds is how the step finds its row by a key; "" if it cannot.
func finds(st *draft.Step, key []*model.Column) string {
	if !st.Model.Sums {
		return "by: " + wording.Bracketed(model.ColumnNames(key))
	}
	for _, c := range key {
		if how := st.Set[st.Table.Of(c)].How; how == model.Adds || how == model.Subtracts {
			return ""
		}
	}
	return "where: {" + strings.Join(model.ColumnNames(key), ": ..., ") + ": ...}"
}
