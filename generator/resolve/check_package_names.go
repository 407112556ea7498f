package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/schema"
)

// checkPackageNames reports names of the generated package that collide: types, enum
// constants, events and what the generated code declares around them.
func checkPackageNames(report *schema.Diagnostics, d *draft) {
	g := newGoNames(report)
	g.fold = true
	// Service is in the first handler.go, which lies beside the generated code.
	for _, n := range []string{"Handler", "NewConsumer", "StubHandler", "NewTestHandler", "EditTestLog", "Service"} {
		g.reserve(n)
	}
	for _, t := range d.types.all {
		g.add(t.model.GoName, goNameUse{what: "type " + quote(t.spec.Name.Value), pos: t.spec.Name.Pos})
	}
	for _, e := range d.namedEvents() {
		g.add(e.model.GoName, goNameUse{what: e.inTopic(), pos: e.spec.Name.Pos})
	}
	for _, t := range d.types.all {
		if t.spec.Broken { // an enum that holds a value twice is reported already
			continue
		}
		for _, v := range t.spec.Enum {
			if word := goName(v.Name.Value); word != "" {
				g.add(t.model.GoName+word, goNameUse{
					what: fmt.Sprintf("value %s of %s", quote(v.Name.Value), quote(t.spec.Name.Value)), pos: v.Name.Pos,
					fix: "write the enum as a map and give each value a name of its own",
				})
			}
		}
	}
	once := map[string]bool{} // a second thing of one name is reported by its own name
	add := func(name, what string, pos schema.Pos) {
		if !once[g.key(name)] {
			g.add(name, goNameUse{what: what, pos: pos})
		}
		once[g.key(name)] = true
	}
	for _, e := range d.namedEvents() {
		add(e.topic.model.GoName+"Handler", "the handler of topic "+quote(e.topic.spec.Name.Value), e.topic.spec.Name.Pos)
		add("Test"+e.topic.model.GoName, "the test of topic "+quote(e.topic.spec.Name.Value), e.topic.spec.Name.Pos)
		add("Decode"+e.model.GoName, "the decoder of "+e.is(), e.spec.Name.Pos)
	}
}
