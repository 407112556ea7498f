package resolve

import "github.com/idemgen/idemgen/schema"

// checkFieldNames reports fields of one struct that become one Go name: of a type, of a record
// key, or of an event.
func checkFieldNames(report *schema.Diagnostics, d *draft) {
	for _, t := range d.types.all {
		names := newGoNames(report)
		for _, f := range t.fields {
			names.add(f.field.GoName, goNameUse{what: "field " + quote(f.spec.Name.Value), pos: f.spec.Name.Pos})
		}
	}
	for _, t := range d.topics {
		if t.key != nil {
			checkPartNames(report, t.key)
		}
	}
	for _, e := range d.events() {
		checkEventFieldNames(report, e)
	}
}

func checkPartNames(report *schema.Diagnostics, k *recordKey) {
	names := newGoNames(report)
	for _, p := range k.parts {
		if p.part != nil {
			names.add(p.part.GoName, goNameUse{what: "record-key part " + quote(p.spec.Name.Value), pos: p.spec.Name.Pos})
		}
	}
}

func checkEventFieldNames(report *schema.Diagnostics, e *event) {
	names := newGoNames(report)
	for _, f := range e.model.Fields {
		n := e.scope.find(f.Name)
		what := map[origin]string{topicField: "topic field ", keyPart: "record-key part "}[n.origin]
		if what == "" {
			what = "field "
		}
		if n.origin != sharedField { // reported at the type
			names.add(f.GoName, goNameUse{what: what + quote(f.Name), pos: n.pos})
		}
	}
}
