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
	verbs["add"] = verb{model.Facts{Changes: true, Sums: true}, func(report *syntax.Diagnostics, st *draft.Step) {
		resolveSums(report, st)
		resolveWhere(report, st)
		checkFound(report, st)
		if textOr(st.Spec.If.Missing, "error") == syntax.InsertMissing {
			insertMissing(report, st)
			return
		}
		st.Model.If.Missing = textOr(st.Spec.If.Missing, "error")
		checkNothingSet(report, st)
	}}
}

// resolveSums reads plus and minus.
func resolveSums(report *syntax.Diagnostics, st *draft.Step) {
	if st.Spec.Lacks("plus") && st.Spec.Lacks("minus") {
		report.Add(st.Spec.Verb.Pos, "E105", `add step lacks the key "plus" or "minus": the columns to add to`, "")
		st.Whole = false
	}
	for _, sums := range []struct {
		spec *syntax.Assigns
		how  model.How
	}{{st.Spec.Own.Plus, model.Adds}, {st.Spec.Own.Minus, model.Subtracts}} {
		if sums.spec == nil {
			continue
		}
		st.Whole = st.Whole && !sums.spec.Broken
		for _, a := range sums.spec.Items {
			if c := nameColumn(report, st, a.Column); c != nil {
				v := resolveSum(report, st, c, a)
				v.How = sums.how
				put(st, c, v)
			}
		}
	}
}

// resolveSum reads what is added to a column.
func resolveSum(report *syntax.Diagnostics, st *draft.Step, c *draft.Column, a syntax.Assign) draft.Value {
	v := resolveValue(report, st, a.Value, c)
	if v.Known && v.Model.Kind == model.NowValue {
		report.Add(a.Value.Pos, "E302", "the transaction's time cannot be added to a column", "name a field, or write {value: 1}")
		v.Known = false
	}
	if c.Broken {
		v.Known = false
		return v
	}
	refuse := func(code, message, hint string) draft.Value {
		report.Add(a.Column.Pos, code, message, hint)
		v.Known = false
		return v
	}
	switch c.Model.Type.Kind {
	case model.ColInteger, model.ColBigint, model.ColNumeric:
	case model.ColReal, model.ColDouble:
		return refuse("E302", c.Is()+" is "+c.Model.Type.String()+", whose sums depend on their order", "declare it numeric, or a whole number of the smallest unit")
	default:
		return refuse("E302", fmt.Sprintf("%s is %s, which cannot be added to", c.Is(), c.Spec.Type.Word), "add to integer, bigint or numeric columns")
	}
	for _, fk := range st.Table.Model.ForeignKeys {
		if slices.Contains(fk.Columns, c.Model) {
			return refuse("E302", c.Is()+" refers to a row of "+wording.Quote(fk.References.Name)+": a sum would refer to another row", "set it with an update or upsert")
		}
	}
	if c.Model.Nullable {
		return refuse("E303", c.Is()+" may be null, and NULL stays NULL whatever is added to it", "remove \"nullable\", and give the column default: 0")
	}
	if !checkWritable(report, c, a.Column.Pos, "") {
		v.Known = false
		return v
	}
	v = checkType(report, c, v, a.Value.Pos, "be added to")
	if v.Known && v.Type.Optional && !v.Model.Patch() { // a patch is refused whether it may be null or not
		report.Add(a.Value.Pos, "E303", fmt.Sprintf("field %s may be null, but is added to column %s", wording.Quote(v.Text), wording.Quote(c.Spec.Name.Value)), "make the field required, or give it a default in place of \"optional\"")
		v.Known = false
	}
	return v
}

// checkFound refuses to add to a column that finds the row.
func checkFound(report *syntax.Diagnostics, st *draft.Step) {
	for _, sums := range []*syntax.Assigns{st.Spec.Own.Plus, st.Spec.Own.Minus} {
		if sums != nil {
			for _, a := range sums.Items {
				checkMoved(report, st, a.Column)
			}
		}
	}
	if st.Spec.Set == nil {
		return
	}
	for _, a := range st.Spec.Set.Items {
		if c := st.Table.Column(a.Column.Value); c != nil {
			if _, finds := st.Where[c]; finds {
				report.Add(a.Column.Pos, "E602", fmt.Sprintf("column %s is named twice in this step: where already finds the row by it", wording.Quote(a.Column.Value)), "remove it here: the new row gets it from where")
				st.Whole = false
			}
		}
	}
}

// checkNothingSet refuses values for a new row that the step never makes.
func checkNothingSet(report *syntax.Diagnostics, st *draft.Step) {
	fail := func(key syntax.Pos, name string) {
		report.Add(key, "E602", name+" is only for the row that if_missing: insert creates; add changes only the columns of plus and minus", "write if_missing: insert, or an update step")
		st.Whole = false
	}
	if st.Spec.Set != nil {
		fail(st.Spec.Set.Key, "set")
	}
	if st.Spec.Clear != nil {
		fail(st.Spec.Clear.Key, "clear")
	}
	if st.Spec.Leave != nil {
		fail(st.Spec.Leave.Key, "leave")
	}
}

// insertMissing makes a row where none is: with the sums as they are, as if it had held zeros.
// Everything else is for that new row only.
func insertMissing(report *syntax.Diagnostics, st *draft.Step) {
	st.Model.Makes = true
	found := make([]*model.Column, 0, len(st.Where))
	for c, v := range st.Where {
		found = append(found, c.Model)
		if st.Named[c] {
			continue // checkFound reported it
		}
		if !checkWritable(report, c, st.Spec.If.Missing.Pos, "find the row by a key whose values the event has, or remove if_missing: insert") {
			st.Whole = false
		}
		st.Named[c] = true
		put(st, c, v)
	}
	fill(report, st)
	for c, v := range st.Set {
		if v.How == model.Overwrites && !slices.Contains(found, c.Model) {
			v.How = model.Keeps
			st.Set[c] = v
		}
	}
	for _, key := range st.Table.Keys() {
		if model.SameColumns(key, found) {
			st.Model.By = key
		}
	}
	if st.Model.By == nil && st.Whole {
		report.Add(st.Spec.If.Missing.Pos, "E605", fmt.Sprintf("if_missing: insert needs a where that names exactly the primary key or a unique key of %s", wording.Quote(st.Spec.Table.Value)), "remove the other columns of where")
		st.Whole = false
	}
	clear(st.Where)
}
