package resolve

import "github.com/idemgen/idemgen/generator/model"

func init() {
	verbs["insert"] = verb{model.Facts{Makes: true}, func(r *resolver, st *step) {
		r.fill(st)
		st.model.By = st.table.model.PrimaryKey
		st.model.IfExists = textOr(st.spec.IfExists, "error")
	}}
}
