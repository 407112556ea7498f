package gocode

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// identifyMethod writes what adds the parts of an event's key.
func identifyMethod(f *file, e *model.Event) {
	doc := fmt.Sprintf("key identifies the event by %s.\nDuplicates are detected for at least %s.", keyDoc(e.Key.Parts), model.DurationText(e.Key.Window))
	params := []code{named("k", pointer(wire("KeyBuilder"))), named("m", pointer(wire("Message")))}
	f.fn(doc, "e *"+e.GoName, "key", params, nil, func(g *group) { keySources(g, e.Key.Parts) })
}

// keySources adds the parts of a source.
func keySources(g *group, parts []model.KeySource) {
	for _, part := range parts {
		if part.Field == nil {
			g.Add(call("k.Header", text("m"), lit(part.Header)))
			continue
		}
		t, value := part.Field.Type, "e."+part.Field.GoName
		if t.Kind == model.Enum {
			value = fmt.Sprintf("string(%s)", value)
		}
		g.Add(call("k."+kinds[t.Kind].part, lit(fieldPath(part.Field)), text(value)))
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
	doc := "fingerprint adds the fields on which duplicates must agree."
	f.fn(doc, "e *"+e.GoName, "fingerprint", []code{named("f", pointer(wire("Fingerprint")))}, nil, func(g *group) {
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
	appends := "AppendJSON"
	if f.Type.ManyTexts() {
		appends = "AppendJSONValue"
	}
	add := call("f."+kinds[f.Type.Kind].part, lit(f.Name), plainText(f.Type, src))
	switch f.Type.Kind {
	case model.List, model.Map:
		add = text("f.%s(%q, e.append%s)", appends, f.Name, f.GoName)
	case model.Object:
		add = text("f.%s(%q, %s.appendJSON)", appends, f.Name, src)
	}
	if optional {
		g.If(text(src + " != nil")).Block(add)
		return
	}
	g.Add(add)
}
