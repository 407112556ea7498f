package oracle

func init() {
	verbs["update"] = verb{run: func(x *tx, t *table, r stepRow) *fault {
		found := t.find(r.where)
		if len(found) == 0 && r.step.If.Missing != "skip" {
			return refused("no such row in " + t.def.Name)
		}
		return x.updateAll(t, r, found)
	}}
}
