package check

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// checkReplacedParents reports steps that replace rows which others refer to with on_delete:
// restrict (E608): the rows would stay, or go, by what else is in the batch.
func checkReplacedParents(report *schema.Diagnostics, d *draft.Service) {
	for _, st := range d.Steps() {
		if !st.Whole || !st.Model.Replaces {
			continue
		}
		for _, child := range d.Tables.All {
			for _, fk := range child.Model.ForeignKeys {
				if fk.References == st.Model.Table && fk.OnDelete == "restrict" {
					report.Add(st.Spec.Verb.Pos, "E608", fmt.Sprintf("replace removes rows of %s, but %s refers to them with on_delete: restrict", wording.Quote(st.Spec.Table.Value), wording.Quote(child.Spec.Name.Value)),
						"state on_delete: cascade or set_null there")
				}
			}
		}
	}
}
