package oracle

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// stepRow is one row of one step with its values as its columns hold them.
type stepRow struct {
	step  *model.Step
	set   []assigned
	where []assigned
	newer cell
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
		for _, el := range e.elements(s) {
			r, f := e.row(s, el)
			if f != nil {
				return nil, f
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// elements are those of the step's list, or one that stands for the event.
func (e *event) elements(s *model.Step) []element {
	if s.Each == nil {
		return []element{{}}
	}
	var elements []element
	l, _ := e.values[s.Each].(list)
	for i, v := range l {
		elements = append(elements, element{v, int64(i + 1)})
	}
	return elements
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
	case model.PositionValue:
		got = el.position
	}
	out, f := toCell(c, got)
	if f != nil && f.class == ClassFit {
		f.path = path + f.path
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
	run   func(x *tx, t *table, r stepRow) *fault
	fills bool // it leaves columns that it does not set to the database
}

var verbs = map[string]verb{}

// steps runs the rows of each step, one after the other.
func (x *tx) steps(rows []stepRow) *fault {
	for i, r := range rows {
		r.set = x.atOnce(r.set)
		if f := verbs[r.step.Verb].run(x, x.store.byDef[r.step.Table], r); f != nil {
			return f
		}
		if i+1 < len(rows) && rows[i+1].step == r.step {
			continue // the step is not done
		}
		if f := x.checkWritten(); f != nil {
			return f
		}
	}
	return nil
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

func (x *tx) updateAll(t *table, r stepRow, found []*row) *fault {
	for _, old := range found {
		if !r.isNewer(t, old) {
			continue
		}
		if f := x.update(t, old, r.set); f != nil {
			return f
		}
	}
	return nil
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
