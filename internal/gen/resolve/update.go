package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

func init() {
	verbs["update"] = verb{model.Facts{Changes: true}, func(report *syntax.Diagnostics, st *draft.Step) {
		resolveWhere(report, st)
		st.Model.If.Missing = textOr(st.Spec.If.Missing, "error")
		if st.Model.If.Missing == syntax.InsertMissing {
			report.Add(st.Spec.If.Missing.Pos, "E111", `if_missing of an update cannot be "insert": it has no values for the other columns`, "write an upsert, or with sums an add")
			st.Whole = false
		}
		checkUpdate(report, st)
	}}
}

// checkUpdate refuses an update that changes nothing or moves the row.
func checkUpdate(report *syntax.Diagnostics, st *draft.Step) {
	if len(st.Set) == 0 && st.Whole {
		report.Add(st.Spec.Verb.Pos, "E105", "update step lacks the key \"set\": the columns to change", setHint(st))
		st.Whole = false
	}
	if st.Spec.Clear != nil {
		for _, item := range st.Spec.Clear.Items {
			checkMoved(report, st, item)
		}
	}
	if st.Spec.Set != nil {
		for _, a := range st.Spec.Set.Items {
			checkMoved(report, st, a.Column)
		}
	}
}

// setHint writes the set of an update that has none, for a field of the event that has the
// name of a column.
func setHint(st *draft.Step) string {
	const rule = "an update changes only the columns in set and clear"
	for _, n := range st.Event.Scope.Names {
		c := st.Table.Column(n.Text)
		if c == nil || c.Broken || n.Origin == draft.RecordKeyPart || slices.Contains(st.Table.Model.PrimaryKey, c.Model) {
			continue
		}
		if _, finds := st.Where[c]; !finds {
			return fmt.Sprintf("%s: write set: {%s: %s}", rule, n.Text, n.Text)
		}
	}
	return rule
}

// checkMoved refuses to change a column that finds the row or is part of the primary key.
func checkMoved(report *syntax.Diagnostics, st *draft.Step, at syntax.Text) {
	c := st.Table.Column(at.Value)
	if c == nil || c.Broken {
		return
	}
	switch _, inWhere := st.Where[c]; {
	case slices.Contains(st.Table.Model.PrimaryKey, c.Model):
		report.Add(at.Pos, "E602", fmt.Sprintf("%s is part of the primary key, which %s cannot change", c.Is(), withArticle(st.Model.Verb)), "delete the row and insert it under its new key, or change it in Go code, handle: true")
	case inWhere:
		report.Add(at.Pos, "E602", fmt.Sprintf("column %s is named twice in this step: where already finds the row by it", wording.Quote(at.Value)), "remove it here, or find the row by another column; to change the column only from one value to another, write Go code, handle: true")
	default:
		return
	}
	st.Whole = false
}
