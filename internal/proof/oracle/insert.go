package oracle

func init() {
	verbs["insert"] = verb{fills: true, run: func(x *tx, t *table, r stepRow) *fault {
		if r.step.If.Exists == "skip" && len(t.find(pick(r.set, t.def.PrimaryKey))) > 0 {
			return nil
		}
		return x.insert(t, r.set)
	}}
}
