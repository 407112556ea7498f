package oracle

func init() {
	verbs["delete"] = verb{run: func(x *tx, t *table, r stepRow) (done, *fault) {
		found := t.find(r.where)
		was := done(len(found) == 0) // nothing is left to do
		for _, old := range found {
			if !t.rows[old] || !r.isNewer(t, old) { // it may have gone with the one before
				continue
			}
			if f := x.remove(t, old); f != nil {
				return applied, f
			}
			was = applied
		}
		return was, nil
	}}
}
