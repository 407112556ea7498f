package oracle

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func init() {
	verbs["upsert"] = verb{fills: true, run: func(x *tx, t *table, r stepRow) *fault {
		found := t.find(pick(r.set, r.step.By))
		if len(found) == 0 {
			return x.insert(t, r.set)
		}
		r.set = slices.DeleteFunc(r.set, func(a assigned) bool { return a.how == model.Keeps || slices.Contains(r.step.By, a.column) })
		return x.updateAll(t, r, found)
	}}
}
