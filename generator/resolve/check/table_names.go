package check

import (
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// checkTableNames reports tables that become one Go name.
func checkTableNames(report *schema.Diagnostics, d *draft.Service) {
	var all []declared
	for _, t := range d.Tables.Kept() {
		all = append(all, declared{t.Spec.Name, t.Model.GoName, t.Imported})
	}
	addDeclared(newGoNames(report), "table", all)
}
