package resolve

import (
	"cmp"
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// verb is what this package knows of one verb. Each verb has a file of its own, which puts it
// into verbs; whoever else asks what a step does reads [model.Facts].
type verb struct {
	does    model.Facts                                      // Makes, Changes, Removes
	resolve func(report *syntax.Diagnostics, st *draft.Step) // reads which rows it means, and what if they are there or missing
}

var verbs = map[string]verb{}

func resolveStep(report *syntax.Diagnostics, tables *draft.Tables, e *draft.Event, spec *syntax.Step) *draft.Step {
	v := verbs[spec.Verb.Value]
	st := &draft.Step{
		Spec: spec, Event: e, Set: draft.Assigned{}, Where: draft.Assigned{}, Named: map[*draft.Column]bool{}, Whole: !spec.Broken,
		Model: &model.Step{Event: e.Model, Verb: spec.Verb.Value, Many: spec.Many != nil && spec.Many.Value, Facts: v.does},
	}
	st.Table = tables.Find(spec.Table.Value)
	if st.Table == nil {
		unknownTable(report, tables, spec.Table)
		st.Whole = false
		return st
	}
	st.Whole = st.Whole && !st.Table.Broken
	st.Model.Table = st.Table.Model
	resolveEach(report, st)
	resolveSet(report, st)
	v.resolve(report, st)
	resolveGuard(report, st)
	st.Model.Set, st.Model.Where = inOrder(st, st.Set), inOrder(st, st.Where)
	return st
}

func textOr(t *syntax.Text, def string) string {
	if t == nil {
		return def
	}
	return t.Value
}

// inOrder lists values in the table's column order; unknown ones are left out.
func inOrder(st *draft.Step, values draft.Assigned) []model.Assign {
	var out []model.Assign
	for _, c := range st.Table.Columns {
		if v, ok := values[c]; ok && v.Known {
			out = append(out, model.Assign{Column: c.Model, Value: v.Model, How: v.How})
		}
	}
	return out
}

// resolveEach looks up the list whose elements become rows.
func resolveEach(report *syntax.Diagnostics, st *draft.Step) {
	at := st.Spec.Each
	if at == nil {
		return
	}
	f := use(report, st.Event, *at, fieldOnly)
	if f == nil {
		st.Whole = false
		return
	}
	st.Model.Each = f
	switch {
	case f.Type.Kind != model.List:
		report.Add(at.Pos, "E308", fmt.Sprintf("each needs a list; field %s is %s", wording.Quote(f.Name), typeword.Text(f.Type)), listHint(st.Event))
	case f.Patch:
		report.Add(at.Pos, "E308", fmt.Sprintf("each needs a list; field %s may be absent", wording.Quote(f.Name)), `write the rows in a handler if the field was sent; or remove "patch": the field is then required, and an empty list has no rows`)
	case f.Type.Optional:
		report.Add(at.Pos, "E308", fmt.Sprintf("each needs a list; field %s may be null", wording.Quote(f.Name)), `remove "optional": an empty list has no rows`)
	default:
		st.Elem = f.Type.Elem
		return
	}
	st.Whole = false
}

// resolveSet reads set, clear and leave.
func resolveSet(report *syntax.Diagnostics, st *draft.Step) {
	if st.Spec.Set != nil {
		st.Whole = st.Whole && !st.Spec.Set.Broken
		for _, a := range st.Spec.Set.Items {
			c := nameColumn(report, st, a.Column)
			if c == nil {
				continue
			}
			v := resolveValue(report, st, a.Value, c)
			if checkWritable(report, c, a.Column.Pos, "") {
				v = checkFill(report, st, c, v, a.Value.Pos)
			} else {
				v.Known = false
			}
			put(st, c, v)
		}
	}
	if st.Spec.Clear != nil {
		for _, item := range st.Spec.Clear.Items {
			c := nameColumn(report, st, item)
			if c == nil {
				continue
			}
			v := draft.Value{Model: model.Value{Kind: model.NullValue}, Known: !c.Broken && checkWritable(report, c, item.Pos, "")}
			if v.Known && !c.Model.Nullable {
				report.Add(st.Spec.Clear.Pos, "E303", c.Is()+" may not be null and cannot be cleared", "set it to a value, or declare the column nullable: \"nullable "+c.Spec.Type.Word+"\"")
				v.Known = false
			}
			put(st, c, v)
		}
	}
	resolveLeave(report, st)
}

// put records a value; the first one of a column stays.
func put(st *draft.Step, c *draft.Column, v draft.Value) {
	st.Whole = st.Whole && v.Known
	if _, twice := st.Set[c]; !twice {
		st.Set[c] = v
	}
}

// nameColumn looks up a column that the step names in set, clear or leave, and reports
// a column that it names twice (E602).
func nameColumn(report *syntax.Diagnostics, st *draft.Step, at syntax.Text) *draft.Column {
	c := lookupColumn(report, st.Table, at)
	if c == nil {
		st.Whole = false
		return nil
	}
	if st.Named[c] {
		keys := "set, clear and leave"
		if st.Model.Sums {
			keys = "plus, minus, " + keys
		}
		report.Add(at.Pos, "E602", fmt.Sprintf("column %s is named twice in this step", wording.Quote(at.Value)), "keep one of "+keys)
	}
	st.Named[c] = true
	return c
}

// checkWritable refuses columns that the database alone fills.
func checkWritable(report *syntax.Diagnostics, c *draft.Column, pos syntax.Pos, hint string) bool {
	if c.Broken || !c.Model.ByDatabase() {
		return true
	}
	if c.Model.Identity {
		hint = cmp.Or(hint, "remove it here: identity numbers the rows")
	}
	hint = cmp.Or(hint, "remove it here; or, if steps should write this column, remove its filled_by, and in steps that omit the column write "+setTo(c))
	report.Add(pos, "E603", c.Is()+" is filled by the database and cannot be written", hint)
	return false
}
