package resolve

import "github.com/idemgen/idemgen/generator/model"

func init() {
	verbs["delete"] = verb{model.Facts{Removes: true}, func(r *resolver, st *step) {
		r.resolveWhere(st)
		st.model.IfMissing = "skip" // a row that is gone already is as good
	}}
}
