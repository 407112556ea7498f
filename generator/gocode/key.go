package gocode

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
)

// keyMethods write what adds the parts of an event's key, and of its former ones.
func keyMethods(f *file, e *model.Event) {
	header := "Header"
	if e.Key.OffsetIfMissing {
		header = "HeaderOrOffset"
	}
	doc := fmt.Sprintf("key identifies the event by %s. Its copies are known for %s at least.", keyDoc(e.Key.Parts), model.DurationText(e.Key.Window))
	f.fn(doc, "e *"+e.GoName, "key", keyParams(), nil, func(g *group) { keySources(g, e.Key.Parts, header) })
	for i, former := range e.Key.Former {
		name := formerMethod(i)
		doc := name + " is the key by " + keyDoc(former.Parts) + ", which identified the event before."
		f.fn(doc, "e *"+e.GoName, name, keyParams(), nil, func(g *group) { keySources(g, former.Parts, "Header") })
	}
}

// formerMethod names the method that makes the i-th former key.
func formerMethod(i int) string { return fmt.Sprintf("formerKey%d", i+1) }

func keyParams() []code {
	return []code{named("k", pointer(wire("KeyBuilder"))), named("m", pointer(wire("Message")))}
}

// keySources adds the parts of a source; header is the method for headers.
func keySources(g *group, parts []model.KeySource, header string) {
	for _, part := range parts {
		if part.Field == nil {
			g.Add(call("k."+header, text("m"), lit(part.Header)))
			continue
		}
		t, value := part.Field.Type, "e."+part.Field.GoName
		add := func(g *group) {
			if t.Kind == model.Enum {
				value = fmt.Sprintf("string(%s)", value)
			}
			g.Add(call("k."+kinds[t.Kind].part, lit(fieldPath(part.Field)), text(value)))
		}
		if !t.Optional {
			add(g)
			continue
		}
		there := value + " != nil"
		if t.Kind != model.Bytes {
			value = "*" + value
		}
		g.If(text(there)).BlockFunc(add).Else().Block(call("k.Absent"))
	}
}

func keyDoc(key []model.KeySource) string {
	var parts []string
	for _, s := range key {
		if s.Field == nil {
			parts = append(parts, fmt.Sprintf("header %q", s.Header))
		} else {
			parts = append(parts, s.Field.Name)
		}
	}
	return listing(parts)
}

// fingerprintMethod writes the method that adds what copies of an event must share.
func fingerprintMethod(f *file, e *model.Event) {
	doc := "fingerprint adds what copies of the event must share."
	f.fn(doc, "e *"+e.GoName, "fingerprint", []code{named("f", pointer(wire("Fingerprint")))}, nil, func(g *group) {
		if e.Key.CompareName {
			g.Add(call("f.Event", lit(e.FirstName())))
		}
		for _, field := range e.Key.Compared {
			fingerprintField(g, field)
		}
	})
}

func fingerprintField(g *group, f *model.Field) {
	src, optional := valueOf(f), f.Type.Optional || f.Patch
	if f.Patch && f.Type.Optional {
		g.Add(text("f.Patch(%q, e.%s.State)", f.Name, f.GoName))
	}
	if optional && !composed(f.Type) && !nilable(f.Type) {
		g.Add(wire("IfPresent").Call(text("f."+kinds[f.Type.Kind].part), lit(f.Name), optText(f.Type, src)))
		return
	}
	add := call("f."+kinds[f.Type.Kind].part, lit(f.Name), plainText(f.Type, src))
	switch f.Type.Kind {
	case model.List, model.Map:
		add = text("f.AppendJSON(%q, e.append%s)", f.Name, f.GoName)
	case model.Object:
		add = text("f.AppendJSON(%q, %s.appendJSON)", f.Name, src)
	}
	if optional {
		g.If(text(src + " != nil")).Block(add)
		return
	}
	g.Add(add)
}
