package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/schema"
)

// checkUnused reports fields that are declared but that nothing uses (E212). A type
// with fields may serve several events, so its members need not all be used by each.
func checkUnused(report *schema.Diagnostics, d *draft) {
	for _, t := range d.topics {
		for _, e := range t.events {
			if e.model.Handle || e.unsure {
				continue
			}
			for _, n := range e.scope.names {
				if n.origin == ownField && !n.used && n.field != nil {
					report.Add(n.pos, "E212", fmt.Sprintf("field %s of %s is declared but nothing uses it", quote(n.text), e.is()),
						"remove it (unknown members are ignored), or write it to a column")
				}
			}
		}
		checkTopicFields(report, t)
	}
}

func checkTopicFields(report *schema.Diagnostics, t *topic) {
	if t.spec.Broken {
		return
	}
	for _, f := range t.fields {
		used := slices.ContainsFunc(t.events, func(e *event) bool {
			n := e.scope.find(f.spec.Name.Value)
			return e.model.Handle || e.unsure || n != nil && n.used
		})
		if f.field != nil && !used {
			report.Add(f.spec.Name.Pos, "E212", fmt.Sprintf("field %s of topic %s is declared but nothing uses it", quote(f.spec.Name.Value), quote(t.spec.Name.Value)),
				"remove it (unknown members are ignored), or write it to a column in one of the events")
		}
	}
}
