package oracle

func init() {
	verbs["upsert"] = verb{fills: true, run: func(x *tx, t *table, r stepRow) *fault {
		found := t.find(pick(r.set, r.step.By))
		if len(found) == 0 {
			return x.insert(t, r.set)
		}
		return x.updateAll(t, r, found)
	}}
}
