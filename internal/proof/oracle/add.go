package oracle

import "github.com/idemgen/idemgen/internal/gen/model"

func init() {
	verbs["add"] = verb{fills: true, run: func(x *tx, t *table, r stepRow) *fault {
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
			return refused("no such row in " + t.def.Name)
		case len(found) == 0:
			return nil
		}
		return x.addTo(t, found[0], r) // where holds a whole unique key
	}}
}

// addTo adds to a row, or makes a new one that held zeros.
func (x *tx) addTo(t *table, old *row, r stepRow) *fault {
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
		c, f := toCell(a.column, sum)
		if _, wide := sum.(decimal); f != nil || wide && a.column.Type.Kind != model.ColNumeric {
			return refused(a.column.Name + " would be out of range")
		}
		sums = append(sums, assigned{column: a.column, cell: c})
	}
	if old == nil {
		return x.insert(t, append(first, sums...))
	}
	return x.update(t, old, sums)
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
