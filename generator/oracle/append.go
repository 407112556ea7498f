package oracle

import "slices"

func init() {
	verbs["append"] = verb{fills: true, run: func(x *tx, t *table, r stepRow) (done, *fault) {
		numbers := r.step.Stream
		last := int64(0)
		for _, old := range t.find(pick(r.set, numbers.Columns)) {
			if n, ok := old.cells[t.column(numbers.Position)].(int64); ok {
				last = max(last, n)
			}
		}
		at := slices.IndexFunc(r.set, func(a assigned) bool { return a.column == numbers.Position })
		if _, free := r.set[at].cell.(next); !free && r.set[at].cell != cell(last+1) {
			return applied, refused("not the next position of its stream")
		}
		number, f := toCell(numbers.Position, last+1)
		if f != nil {
			return applied, refused("a stream is full")
		}
		r.set[at].cell = number
		return applied, x.insert(t, r.set)
	}}
}

// next stands for the next free number of a stream until the row is written.
type next struct{}
