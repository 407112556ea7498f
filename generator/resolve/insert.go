package resolve

import (
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

func init() {
	verbs["insert"] = verb{model.Facts{Makes: true}, func(report *schema.Diagnostics, st *draft.Step) {
		fill(report, st)
		st.Model.By = st.Table.Model.PrimaryKey
		st.Model.If.Exists = textOr(st.Spec.If.Exists, "error")
	}}
}
