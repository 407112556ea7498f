package check

import (
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkTableNames reports tables that become one Go name.
func checkTableNames(report *syntax.Diagnostics, d *draft.Service) {
	g := newGoNames(report)
	for _, t := range d.Tables.All {
		g.add(t.Model.GoName, goNameUse{what: "table " + wording.Quote(t.Spec.Name.Value), pos: t.Spec.Name.Pos})
	}
}
