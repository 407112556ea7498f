package oracle

import "slices"

func init() {
	verbs["replace"] = verb{fills: true, run: func(x *tx, t *table, r stepRow) (done, *fault) {
		var stay []*row
		matched := map[*row]bool{}
		targets := make([]*row, len(r.elements))
		for i, e := range r.elements {
			if len(r.step.By) == 0 {
				continue
			}
			for _, old := range t.find(pick(e, r.step.By)) {
				if matched[old] {
					return applied, refused("two elements are one row of " + t.def.Name)
				}
				matched[old], targets[i] = true, old
				stay = append(stay, old)
			}
		}
		for _, old := range t.find(r.where) {
			if !t.rows[old] || slices.Contains(stay, old) { // it may have gone with the one before
				continue
			}
			if f := x.remove(t, old); f != nil {
				return applied, f
			}
		}
		for i, e := range r.elements {
			var f *fault
			if targets[i] != nil {
				f = x.update(t, targets[i], slices.DeleteFunc(e, func(a assigned) bool { return slices.Contains(r.step.By, a.column) }))
			} else {
				f = x.insert(t, e)
			}
			if f != nil {
				return applied, f
			}
		}
		return applied, nil
	}}
}
