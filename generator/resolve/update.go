package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

func init() {
	verbs["update"] = verb{model.Facts{Changes: true}, func(report *schema.Diagnostics, st *step) {
		resolveWhere(report, st)
		st.model.IfMissing = textOr(st.spec.IfMissing, "error")
		checkUpdate(report, st)
	}}
}

// checkUpdate refuses an update that changes nothing or moves the row.
func checkUpdate(report *schema.Diagnostics, st *step) {
	if len(st.set) == 0 && st.whole {
		report.Add(st.spec.Verb.Pos, "E105", "update step lacks the key \"set\": the columns to change", st.setHint())
		st.whole = false
	}
	if st.spec.Clear != nil {
		for _, item := range st.spec.Clear.Items {
			checkMoved(report, st, item)
		}
	}
	if st.spec.Set != nil {
		for _, a := range st.spec.Set.Items {
			checkMoved(report, st, a.Column)
		}
	}
}

// setHint writes the set of an update that has none, for a field of the event that has the
// name of a column.
func (st *step) setHint() string {
	const rule = "an update touches only what set and clear name"
	for _, n := range st.event.scope.names {
		c := st.table.column(n.text)
		if c == nil || c.broken || n.origin == keyPart || slices.Contains(st.table.model.PrimaryKey, c.model) {
			continue
		}
		if _, finds := st.where[c]; !finds {
			return fmt.Sprintf("%s: write set: {%s: %s}", rule, n.text, n.text)
		}
	}
	return rule
}

// checkMoved refuses to change a column that finds the row or is part of the primary key.
func checkMoved(report *schema.Diagnostics, st *step, at schema.Text) {
	c := st.table.column(at.Value)
	if c == nil || c.broken {
		return
	}
	switch _, inWhere := st.where[c]; {
	case slices.Contains(st.table.model.PrimaryKey, c.model):
		report.Add(at.Pos, "E602", fmt.Sprintf("%s is part of the primary key, which an update cannot change", c.is()), "delete the row and insert it under its new key")
	case inWhere:
		report.Add(at.Pos, "E602", fmt.Sprintf("column %s is named twice in this step: where finds the row by it", quote(at.Value)), "drop it here, or find the row by another column")
	default:
		return
	}
	st.whole = false
}
