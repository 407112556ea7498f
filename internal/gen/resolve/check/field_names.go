package check

import (
	"cmp"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkFieldNames reports fields of one struct that become one Go name: of a type, of a record
// key, or of an event.
func checkFieldNames(report *syntax.Diagnostics, d *draft.Service) {
	for _, t := range d.Types.All {
		names := newGoNames(report)
		reserveFormat(names, t.Model.Fields)
		for _, f := range t.Fields {
			names.add(f.Field.GoName, goNameUse{what: "field " + wording.Quote(f.Spec.Name.Value), pos: f.Spec.Name.Pos})
		}
	}
	for _, t := range d.Topics {
		if t.Key != nil {
			checkPartNames(report, t.Key)
		}
	}
	for _, e := range d.Events() {
		checkEventFieldNames(report, e)
	}
}

// reserveFormat takes the names of the methods that hide sensitive fields.
func reserveFormat(names *goNames, fields []*model.Field) {
	if slices.ContainsFunc(fields, func(f *model.Field) bool { return f.Sensitive }) {
		names.reserve("Format")
		names.reserve("LogValue")
	}
}

func checkPartNames(report *syntax.Diagnostics, k *draft.RecordKey) {
	names := newGoNames(report)
	for _, p := range k.Parts {
		if p.Part != nil {
			names.add(p.Part.GoName, goNameUse{what: "record-key part " + wording.Quote(p.Spec.Name.Value), pos: p.Spec.Name.Pos})
		}
	}
}

func checkEventFieldNames(report *syntax.Diagnostics, e *draft.Event) {
	names := newGoNames(report)
	reserveFormat(names, e.Model.Fields)
	shared := func(f *model.Field) bool { return e.Scope.Find(f.Name).Origin == draft.SharedField }
	claim := func(f *model.Field) goNameUse {
		n := e.Scope.Find(f.Name)
		what := map[draft.Origin]string{draft.TopicField: "topic field ", draft.RecordKeyPart: "record-key part "}[n.Origin]
		return goNameUse{what: cmp.Or(what, "field ") + wording.Quote(f.Name), pos: n.Pos}
	}
	for _, f := range e.Model.Fields {
		if shared(f) { // what they share among them is reported at the type
			names.take(f.GoName, claim(f))
		}
	}
	for _, f := range e.Model.Fields {
		if !shared(f) {
			names.add(f.GoName, claim(f))
		}
	}
}
