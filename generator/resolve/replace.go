package resolve

import (
	"fmt"
	"maps"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

func init() {
	verbs["replace"] = verb{model.Facts{Makes: true, Changes: true, Removes: true}, func(report *schema.Diagnostics, st *draft.Step) {
		st.Model.Replaces = true
		if st.Spec.Lacks("each") {
			report.Add(st.Spec.Verb.Pos, "E105", `replace step lacks the key "each": the list whose elements become the rows`, "")
		}
		st.Whole = st.Whole && st.Spec.Each != nil
		resolveParent(report, st)
		if len(st.Where) > 0 { // what fill says of the parent's columns is no news
			fill(report, st)
		}
		maps.DeleteFunc(st.Set, func(c *draft.Column, _ draft.Value) bool { _, parent := st.Where[c]; return parent })
		resolveReplaced(report, st)
	}}
}

// resolveParent reads the columns whose other rows are removed.
func resolveParent(report *schema.Diagnostics, st *draft.Step) {
	parent := st.Spec.Own.Parent
	if parent == nil {
		if st.Spec.Lacks("parent") {
			report.Add(st.Spec.Verb.Pos, "E105", `replace step lacks the key "parent": the columns whose other rows are removed`, "")
		}
		st.Whole = false
		return
	}
	st.Whole = st.Whole && !parent.Broken
	for _, a := range parent.Items {
		c := nameColumn(report, st, a.Column)
		if c == nil {
			continue
		}
		v := resolveValue(report, st, a.Value, c)
		if v.Known && v.Model.Kind != model.FieldValue && v.Model.Kind != model.ResultValue && v.Model.Kind != model.ConstValue {
			report.Add(a.Value.Pos, "E308", "parent is the same for all elements: it cannot be one of theirs", "name a field of the event")
			v.Known = false
		}
		v = checkWhere(report, st, c, v, a.Value.Pos)
		if !checkWritable(report, c, a.Column.Pos, "") {
			v.Known = false
		}
		put(st, c, v)
		st.Where[c] = v
	}
}

// resolveReplaced finds the key by which an element is a row that is there.
func resolveReplaced(report *schema.Diagnostics, st *draft.Step) {
	if !st.Whole {
		return
	}
	numbered, within := false, true
	for _, c := range st.Table.Model.PrimaryKey {
		_, filled := st.Set[st.Table.Of(c)]
		_, parent := st.Where[st.Table.Of(c)]
		numbered = numbered || !filled && !parent
	}
	for c := range st.Where {
		within = within && slices.Contains(st.Table.Model.PrimaryKey, c.Model)
	}
	switch {
	case numbered: // by the database: no element is a row that is there
	case within:
		st.Model.By = st.Table.Model.PrimaryKey
	default:
		report.Add(st.Spec.Own.Parent.Key, "E605", fmt.Sprintf("the primary key of %s does not hold the columns of parent: an element could be a row of another parent", wording.Quote(st.Spec.Table.Value)),
			"make them part of the primary key, or let the database number the rows")
		st.Whole = false
	}
}
