package oracle

func init() {
	verbs["delete"] = verb{run: func(x *tx, t *table, r stepRow) *fault {
		for _, old := range t.find(r.where) {
			if !t.rows[old] || !r.isNewer(t, old) { // it may have gone with the one before
				continue
			}
			if f := x.remove(t, old); f != nil {
				return f
			}
		}
		return nil
	}}
}
