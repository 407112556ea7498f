package resolve

import "github.com/idemgen/idemgen/schema"

// checkTableNames reports tables that become one Go name.
func checkTableNames(report *schema.Diagnostics, d *draft) {
	names := newGoNames(report)
	for _, t := range d.tables.all {
		names.add(t.model.GoName, goNameUse{what: "table " + quote(t.spec.Name.Value), pos: t.spec.Name.Pos})
	}
}
