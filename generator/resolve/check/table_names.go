package check

import (
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkTableNames reports tables that become one Go name.
func checkTableNames(report *schema.Diagnostics, d *draft.Service) {
	g := newGoNames(report)
	for _, t := range d.Tables.All {
		g.add(t.Model.GoName, goNameUse{what: "table " + wording.Quote(t.Spec.Name.Value), pos: t.Spec.Name.Pos})
	}
}
