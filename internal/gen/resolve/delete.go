package resolve

import (
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

func init() {
	verbs["delete"] = verb{model.Facts{Removes: true}, func(report *syntax.Diagnostics, st *draft.Step) {
		resolveWhere(report, st)
		st.Model.If.Missing = "skip" // a row that is gone already is as good
	}}
}
