package resolve

import (
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

func init() {
	verbs["delete"] = verb{model.Facts{Removes: true}, func(report *schema.Diagnostics, st *draft.Step) {
		resolveWhere(report, st)
		st.Model.If.Missing = "skip" // a row that is gone already is as good
	}}
}
