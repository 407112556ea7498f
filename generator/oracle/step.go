package oracle

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// stepRow is one row of one step with its values as its columns hold them.
type stepRow struct {
	step  *model.Step
	set   []assigned
	where []assigned
	newer cell
	// elements are the rows that a step which replaces others makes of its list.
	elements [][]assigned
	// then and otherwise are the rows of the steps under this one, which run if it was applied, or
	// if it was skipped.
	then, otherwise []stepRow
	// sends is the row of the outbox, of an emit; then the step is nil.
	sends []assigned
}

type assigned struct {
	column *model.Column
	cell   cell
	how    model.How
}

// element is the element of each that a row is made from.
type element struct {
	value    value
	position int64
}

// rows computes what every step of the event writes, in order. A value that does not
// fit its column refuses the event before anything is written.
func (e *event) rows() ([]stepRow, *fault) {
	var rows []stepRow
	for _, s := range e.def.Steps {
		if s.Under.Of != nil {
			continue
		}
		more, f := e.rowsOf(s, e.elements(s.Each))
		if f != nil {
			return nil, f
		}
		rows = append(rows, more...)
	}
	for _, em := range e.def.Emits {
		if em.Under.Of != nil {
			continue
		}
		more, f := e.emitted(em, e.elements(em.Each))
		if f != nil {
			return nil, f
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// elements are those of a step's list, or one that stands for the event.
func (e *event) elements(each *model.Field) []element {
	if each == nil {
		return []element{{}}
	}
	var elements []element
	l, _ := e.values[each].(list)
	for i, v := range l {
		elements = append(elements, element{v, int64(i + 1)})
	}
	return elements
}

// rowsOf are the rows of a step, one per element, with those of the steps under it.
func (e *event) rowsOf(s *model.Step, elements []element) ([]stepRow, *fault) {
	if s.Replaces {
		r, f := e.replacement(s, elements)
		return []stepRow{r}, f
	}
	var rows []stepRow
	for _, el := range elements {
		r, f := e.row(s, el)
		if f != nil {
			return nil, f
		}
		if f := e.under(&r, el); f != nil {
			return nil, f
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// under computes the rows of the steps under the one that made r of an element.
func (e *event) under(r *stepRow, el element) *fault {
	for _, s := range e.def.Steps {
		if s.Under.Of != r.step {
			continue
		}
		elements := []element{el}
		if r.step.Each == nil {
			elements = e.elements(s.Each)
		}
		rows, f := e.rowsOf(s, elements)
		if f != nil {
			return f
		}
		r.branch(s.Under, rows)
	}
	for _, em := range e.def.Emits {
		if em.Under.Of != r.step {
			continue
		}
		elements := []element{el}
		if r.step.Each == nil {
			elements = e.elements(em.Each)
		}
		rows, f := e.emitted(em, elements)
		if f != nil {
			return f
		}
		r.branch(em.Under, rows)
	}
	return nil
}

// branch adds rows that run if the one of r was applied, or if it was skipped.
func (r *stepRow) branch(under model.Branch, rows []stepRow) {
	if under.Else {
		r.otherwise = append(r.otherwise, rows...)
	} else {
		r.then = append(r.then, rows...)
	}
}

// replacement is the one row of a step that replaces others, with what its elements become.
func (e *event) replacement(s *model.Step, elements []element) (r stepRow, f *fault) {
	r.step = s
	if r.where, f = e.assign(s, s.Where, element{}); f != nil {
		return r, f
	}
	for _, el := range elements {
		set, f := e.assign(s, s.Set, el)
		if f != nil {
			return r, f
		}
		r.elements = append(r.elements, append(set, r.where...))
	}
	return r, nil
}

func (e *event) row(s *model.Step, el element) (stepRow, *fault) {
	r := stepRow{step: s}
	var f *fault
	if r.set, f = e.assign(s, s.Set, el); f != nil {
		return r, f
	}
	if r.where, f = e.assign(s, s.Where, el); f != nil {
		return r, f
	}
	if s.If.Newer != nil {
		r.newer, f = e.cell(s, s.If.Newer, s.If.Version, el)
	}
	return r, f
}

func (e *event) assign(s *model.Step, assigns []model.Assign, el element) ([]assigned, *fault) {
	var out []assigned
	for _, a := range assigns {
		if _, left := e.values[a.Value.Field].(unsent); left && a.Value.Kind == model.FieldValue {
			continue
		}
		c, f := e.cell(s, a.Column, a.Value, el)
		if f != nil {
			return nil, f
		}
		out = append(out, assigned{a.Column, c, a.How})
	}
	return out, nil
}

func (e *event) cell(s *model.Step, c *model.Column, v model.Value, el element) (cell, *fault) {
	var got value
	path := ""
	switch v.Kind {
	case model.FieldValue:
		got, path = e.values[v.Field], fieldPath(v.Field)
	case model.ResultValue:
		got, path = e.result[v.Field], "result."+v.Field.Name
	case model.ElemValue:
		got, path = el.value, elementPath(s.Each, el)
		if v.Field != nil {
			o, _ := el.value.(*object)
			if o != nil {
				got = o.member(v.Field)
			} else {
				got = nil
			}
			path = join(path, v.Field.Source.Path...)
		}
	case model.ConstValue:
		return constant(c, v.Const.Text)
	case model.NowValue:
		return now{}, nil
	case model.NextValue:
		return next{}, nil
	case model.PositionValue:
		got = el.position
	}
	out, f := toCell(c, got)
	if f != nil && f.class == ClassFit {
		f.path = path
	}
	return out, f
}

// now stands for the transaction time until the row is written.
type now struct{}

func elementPath(each *model.Field, el element) string {
	return fieldPath(each) + "[" + decimalOf(el.position-1).String() + "]"
}

// verb is what the language reference says of one verb. Each verb has a file of its own, which
// puts it into verbs.
//
// Here is the line that keeps the oracle independent: of a step it reads what the spec says (the
// fields of [model.Step] itself), and never [model.Facts], which the generators go by. So it can
// find those facts wrong.
type verb struct {
	run   func(x *tx, t *table, r stepRow) (done, *fault)
	fills bool // it leaves columns that it does not set to the database
}

var verbs = map[string]verb{}

// done tells whether a step was applied, or skipped as the spec permits.
type done bool

const (
	applied done = true
	skipped done = false
)

// steps runs the rows of each step, one after the other. A row's own steps under it run before the
// next row.
func (x *tx) steps(rows []stepRow) *fault {
	for i, r := range rows {
		was, f := x.step(r)
		if f != nil {
			return f
		}
		under := r.then
		if was == skipped {
			under = r.otherwise
		}
		if len(under) == 0 && i+1 < len(rows) && rows[i+1].step == r.step {
			continue // the step is not done
		}
		if f := x.checkWritten(); f != nil {
			return f
		}
		if f := x.steps(under); f != nil {
			return f
		}
	}
	return nil
}

// step runs one row of a step.
func (x *tx) step(r stepRow) (done, *fault) {
	if r.step == nil {
		return applied, x.insert(x.store.order[len(x.store.order)-1], x.atOnce(r.sends)) // the outbox is the last table
	}
	t := x.store.byDef[r.step.Table]
	r.set = x.atOnce(r.set)
	for i := range r.elements {
		r.elements[i] = x.atOnce(r.elements[i])
	}
	return verbs[r.step.Verb].run(x, t, r)
}

// atOnce puts the transaction time in its place.
func (x *tx) atOnce(set []assigned) []assigned {
	set = slices.Clone(set)
	for i, a := range set {
		if _, ok := a.cell.(now); ok {
			set[i].cell = x.store.fill()
		}
	}
	return set
}

func (x *tx) updateAll(t *table, r stepRow, found []*row) (was done, f *fault) {
	for _, old := range found {
		if !r.isNewer(t, old) {
			continue
		}
		if f := x.update(t, old, r.set); f != nil {
			return applied, f
		}
		was = applied
	}
	return was, nil
}

// isNewer is the guard of if_newer: a stored NULL counts as older, an absent value is
// never newer than a stored one, and of two equals the first stays.
func (r stepRow) isNewer(t *table, old *row) bool {
	c := r.step.If.Newer
	if c == nil {
		return true
	}
	stored := old.cells[t.column(c)]
	return stored == nil || r.newer != nil && compareCells(c.Type, r.newer, stored) > 0
}

// pick returns the values of columns; one that set does not name counts as NULL, which
// equals no row.
func pick(set []assigned, columns []*model.Column) []assigned {
	var out []assigned
	for _, c := range columns {
		a := assigned{column: c}
		if at := slices.IndexFunc(set, func(a assigned) bool { return a.column == c }); at >= 0 {
			a = set[at]
		}
		out = append(out, a)
	}
	return out
}
