package resolve

import (
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

func init() {
	verbs["insert"] = verb{model.Facts{Makes: true}, func(report *syntax.Diagnostics, st *draft.Step) {
		fill(report, st)
		st.Model.By = st.Table.Model.PrimaryKey
		st.Model.If.Exists = textOr(st.Spec.If.Exists, "error")
	}}
}
