package resolve

import (
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

func init() {
	verbs["insert"] = verb{model.Facts{Makes: true}, func(report *schema.Diagnostics, st *step) {
		fill(report, st)
		st.model.By = st.table.model.PrimaryKey
		st.model.IfExists = textOr(st.spec.IfExists, "error")
	}}
}
