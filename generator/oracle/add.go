package oracle

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

func init() {
	verbs["add"] = verb{fills: true, run: func(x *tx, t *table, r stepRow) (done, *fault) {
		where := r.where
		inserts := r.step.If.Missing == ""
		if inserts {
			where = pick(r.set, r.step.By)
		}
		found := t.find(where)
		switch {
		case len(found) == 0 && inserts:
			return x.addTo(t, nil, r)
		case len(found) == 0 && r.step.If.Missing == "error":
			return applied, refused("no such row in " + t.def.Name)
		case len(found) == 0:
			return skipped, nil
		}
		return x.addTo(t, found[0], r) // where holds a whole unique key
	}}
}

// addTo adds to a row, or makes a new one that held zeros.
func (x *tx) addTo(t *table, old *row, r stepRow) (done, *fault) {
	var sums, first []assigned
	for _, a := range r.set {
		if a.how != model.Adds && a.how != model.Subtracts {
			first = append(first, a)
			continue
		}
		stored := cell(int64(0))
		if old != nil {
			stored = old.cells[t.column(a.column)]
		}
		sum := sumOf(stored, a.cell, a.how == model.Subtracts)
		if i := slices.IndexFunc(r.step.If.AtLeast, func(l model.Assign) bool { return l.Column == a.column }); i >= 0 {
			least, f := constant(a.column, r.step.If.AtLeast[i].Value.Const.Text)
			switch {
			case f != nil:
				return applied, f
			case exact(sum).compare(exact(least)) >= 0:
			case r.step.If.Below == "skip":
				return skipped, nil
			default:
				return applied, refused(a.column.Name + " would be below at_least")
			}
		}
		c, f := toCell(a.column, sum)
		if _, wide := sum.(decimal); f != nil || wide && a.column.Type.Kind != model.ColNumeric {
			return applied, refused(a.column.Name + " would be out of range")
		}
		sums = append(sums, assigned{column: a.column, cell: c})
	}
	if old == nil {
		return applied, x.insert(t, append(first, sums...))
	}
	return applied, x.update(t, old, sums)
}

// sumOf adds exactly: numbers of columns of one type.
func sumOf(stored, delta cell, minus bool) value {
	a, b := exact(stored), exact(delta)
	if minus {
		b.neg = !b.neg && b.digits != "0"
	}
	sum := a.plus(b)
	if _, whole := delta.(int64); whole {
		if n, err := parseInteger(sum.String(), 64); err == nil {
			return n
		}
	}
	return sum
}

func exact(c cell) decimal {
	if n, ok := c.(int64); ok {
		return decimalOf(n)
	}
	d, _ := c.(decimal)
	return d
}
