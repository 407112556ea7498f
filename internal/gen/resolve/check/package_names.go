package check

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkPackageNames reports names of the generated package that collide: types, enum
// constants, events and what the generated code declares around them.
func checkPackageNames(report *syntax.Diagnostics, d *draft.Service) {
	g := newGoNames(report)
	g.fold = strings.ToLower
	// Service is in the first handler.go, which lies beside the generated code.
	for _, n := range []string{"Handler", "NewConsumer", "StubHandler", "NewTestHandler", "EditTestLog", "Service", "TestCases"} {
		g.reserve(n)
	}
	for _, t := range d.Types.All {
		g.add(t.Model.GoName, goNameUse{what: "type " + wording.Quote(t.Spec.Name.Value), pos: t.Spec.Name.Pos})
	}
	for _, e := range d.NamedEvents() {
		g.add(e.Model.GoName, goNameUse{what: e.InTopic(), pos: e.Spec.Name.Pos})
	}
	for _, t := range d.Types.All {
		if t.Spec.Broken { // an enum that holds a value twice is reported already
			continue
		}
		for _, v := range t.Spec.Enum {
			if word := goname.Of(v.Value); word != "" {
				g.add(t.Model.GoName+word, goNameUse{
					what: fmt.Sprintf("value %s of %s", wording.Quote(v.Value), wording.Quote(t.Spec.Name.Value)), pos: v.Pos,
					fix: "declare the field string",
				})
			}
		}
	}
	once := map[string]bool{} // a second thing of one name is reported by its own name
	add := func(name, what string, pos syntax.Pos) {
		if !once[g.key(name)] {
			g.add(name, goNameUse{what: what, pos: pos})
		}
		once[g.key(name)] = true
	}
	for _, e := range d.NamedEvents() {
		add(e.Topic.Model.GoName+"Handler", "the handler of topic "+wording.Quote(e.Topic.Spec.Name.Value), e.Topic.Spec.Name.Pos)
		add("Test"+e.Topic.Model.GoName, "the test of topic "+wording.Quote(e.Topic.Spec.Name.Value), e.Topic.Spec.Name.Pos)
	}
}
