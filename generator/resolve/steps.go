package resolve

import (
	"cmp"
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// step is one step while it is resolved.
type step struct {
	spec  *schema.Step
	model *model.Step
	event *event
	table *table
	elem  *model.FieldType // of each; nil without each, or if unknown
	set   assigned
	where assigned
	named map[*column]bool // named by set, clear or leave
	// whole is false if a part of the step was refused: nothing is concluded from what
	// it lacks.
	whole bool
}

// assigned are the values of columns. A column whose value was refused is there with an
// unknown value.
type assigned map[*column]value

// is names the step in a message: `the upsert of "orders"`.
func (st *step) is() string {
	return fmt.Sprintf("the %s of %s", st.spec.Verb.Value, quote(st.spec.Table.Value))
}

// verb is what this package knows of one verb. Each verb has a file of its own, which puts it
// into verbs; whoever else asks what a step does reads [model.Facts].
type verb struct {
	does    model.Facts                                // Makes, Changes, Removes
	resolve func(report *schema.Diagnostics, st *step) // reads which rows it means, and what if they are there or missing
}

var verbs = map[string]verb{}

func resolveStep(report *schema.Diagnostics, tables *tables, e *event, spec *schema.Step) *step {
	v := verbs[spec.Verb.Value]
	st := &step{
		spec: spec, event: e, set: assigned{}, where: assigned{}, named: map[*column]bool{}, whole: !spec.Broken,
		model: &model.Step{Event: e.model, Verb: spec.Verb.Value, Many: spec.Many != nil && spec.Many.Value, Facts: v.does},
	}
	st.table = tables.byName[spec.Table.Value]
	if st.table == nil {
		unknownTable(report, tables, spec.Table)
		st.whole = false
		return st
	}
	st.whole = st.whole && !st.table.broken
	st.model.Table = st.table.model
	resolveEach(report, st)
	resolveSet(report, st)
	v.resolve(report, st)
	resolveGuard(report, st)
	st.model.Set, st.model.Where = st.inOrder(st.set), st.inOrder(st.where)
	return st
}

func textOr(t *schema.Text, def string) string {
	if t == nil {
		return def
	}
	return t.Value
}

// inOrder lists values in the table's column order; unknown ones are left out.
func (st *step) inOrder(values assigned) []model.Assign {
	var out []model.Assign
	for _, c := range st.table.columns {
		if v, ok := values[c]; ok && v.known {
			out = append(out, model.Assign{Column: c.model, Value: v.model})
		}
	}
	return out
}

// resolveEach looks up the list whose elements become rows.
func resolveEach(report *schema.Diagnostics, st *step) {
	at := st.spec.Each
	if at == nil {
		return
	}
	f := use(report, st.event, *at, fieldOnly)
	if f == nil {
		st.whole = false
		return
	}
	st.model.Each = f
	switch {
	case f.Type.Kind != model.List:
		report.Add(at.Pos, "E308", fmt.Sprintf("each needs a list; field %s is %s", quote(f.Name), typeText(f.Type)), st.event.listHint())
	case f.Type.Optional:
		report.Add(at.Pos, "E308", fmt.Sprintf("each needs a list; field %s may be null", quote(f.Name)), `drop "optional": an empty list has no rows`)
	default:
		st.elem = f.Type.Elem
		return
	}
	st.whole = false
}

// resolveSet reads set, clear and leave.
func resolveSet(report *schema.Diagnostics, st *step) {
	if st.spec.Set != nil {
		st.whole = st.whole && !st.spec.Set.Broken
		for _, a := range st.spec.Set.Items {
			c := nameColumn(report, st, a.Column)
			if c == nil {
				continue
			}
			v := resolveValue(report, st, a.Value, c)
			if checkWritable(report, c, a.Column.Pos, "") {
				v = checkFill(report, st, c, v, a.Value.Pos)
			} else {
				v.known = false
			}
			st.put(c, v)
		}
	}
	if st.spec.Clear != nil {
		for _, item := range st.spec.Clear.Items {
			c := nameColumn(report, st, item)
			if c == nil {
				continue
			}
			v := value{model: model.Value{Kind: model.NullValue}, known: !c.broken}
			if !c.broken && !c.model.Nullable {
				report.Add(st.spec.Clear.Pos, "E303", c.is()+" may not be null and cannot be cleared", "set it to a value, or declare the column nullable: \"nullable "+c.spec.Type.Word+"\"")
				v.known = false
			}
			st.put(c, v)
		}
	}
	resolveLeave(report, st)
}

// put records a value; the first one of a column stays.
func (st *step) put(c *column, v value) {
	st.whole = st.whole && v.known
	if _, twice := st.set[c]; !twice {
		st.set[c] = v
	}
}

// nameColumn looks up a column that the step names in set, clear or leave, and reports
// a column that it names twice (E602).
func nameColumn(report *schema.Diagnostics, st *step, at schema.Text) *column {
	c := lookupColumn(report, st.table, at)
	if c == nil {
		st.whole = false
		return nil
	}
	if st.named[c] {
		report.Add(at.Pos, "E602", fmt.Sprintf("column %s is named twice in this step", quote(at.Value)), "keep one of set, clear and leave")
	}
	st.named[c] = true
	return c
}

// checkWritable refuses columns that the database numbers.
func checkWritable(report *schema.Diagnostics, c *column, pos schema.Pos, hint string) bool {
	if c.broken || !c.model.Identity {
		return true
	}
	report.Add(pos, "E603", c.is()+" is filled by the database and cannot be written", cmp.Or(hint, "drop it here: identity numbers the rows"))
	return false
}
