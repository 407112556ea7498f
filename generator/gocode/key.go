package gocode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// keyMethod writes the constant that separates the keys of this event from others, and the
// method that makes the key.
func keyMethod(f *file, e *model.Event) {
	var space strings.Builder
	for _, b := range e.Key.Space {
		fmt.Fprintf(&space, `\x%02x`, b)
	}
	f.decl(fmt.Sprintf("%s separates the keys of %s from all others that must differ.", spaceConst(e), e.GoName),
		text(`const %s = "%s"`, spaceConst(e), space.String()))
	params := []code{named("k", pointer(wire("KeyBuilder")))}
	if keyHeaders(e) {
		params = append(params, named("m", pointer(wire("Message"))))
	}
	f.fn("key identifies the event by "+keyDoc(e)+".", "e *"+e.GoName, "key", params, results(idem("Key"), text("error")), func(g *group) {
		g.Add(call("k.Start", text(spaceConst(e))))
		for _, part := range e.Key.Parts {
			if part.Field == nil {
				g.Add(call("k.Header", text("m"), lit(part.Header)))
				continue
			}
			t := part.Field.Type
			value := text("e." + part.Field.GoName)
			if t.Kind == model.Enum {
				value = text("string(e.%s)", part.Field.GoName)
			}
			g.Add(call("k."+kinds[t.Kind].part, lit(fieldPath(part.Field)), value))
		}
		g.Return(text("k.Sum(%q)", e.GoName))
	})
}

func keyHeaders(e *model.Event) bool {
	return slices.ContainsFunc(e.Key.Parts, func(s model.KeySource) bool { return s.Field == nil })
}

func keyDoc(e *model.Event) string {
	var parts []string
	for _, s := range e.Key.Parts {
		if s.Field == nil {
			parts = append(parts, fmt.Sprintf("header %q", s.Header))
		} else {
			parts = append(parts, s.Field.Name)
		}
	}
	return listing(parts)
}

// compared reports whether a field is part of what copies of an event must share: what
// the producer sent, record key included, not what Kafka added.
func compared(e *model.Event, f *model.Field) bool {
	return !e.Key.Offset && f.Source.Kind != model.FromRecord
}

// fingerprintMethod writes the method that sums up the content, fields in name order.
func fingerprintMethod(f *file, e *model.Event) {
	fields := slices.DeleteFunc(slices.Clone(e.Fields), func(f *model.Field) bool { return !compared(e, f) })
	slices.SortFunc(fields, func(a, b *model.Field) int { return strings.Compare(a.Name, b.Name) })
	params := []code{named("f", pointer(wire("Fingerprint")))}
	if buffersPrint(e) {
		params = append(params, text("b *[]byte"))
	}
	f.fn("", "e *"+e.GoName, "fingerprint", params, text("uint32"), func(g *group) {
		g.Add(call("f.Start"))
		for _, field := range fields {
			fingerprintField(g, field)
		}
		g.Return(call("f.Sum"))
	})
}

// buffersPrint reports whether the fingerprint needs a buffer for JSON.
func buffersPrint(e *model.Event) bool {
	return slices.ContainsFunc(e.Fields, func(f *model.Field) bool { return compared(e, f) && composed(f.Type) })
}

func fingerprintField(g *group, f *model.Field) {
	src := "e." + f.GoName
	if composed(f.Type) {
		write := func(g *group) {
			g.Add(text("*b = %s.appendJSON((*b)[:0])", src))
			g.Add(text("f.JSON(%q, *b)", f.Name))
		}
		if f.Type.Kind == model.List {
			write = func(g *group) {
				g.Add(text("*b = e.append%s((*b)[:0])", f.GoName))
				g.Add(text("f.JSON(%q, *b)", f.Name))
			}
		}
		if f.Type.Optional {
			g.If(text(src + " != nil")).BlockFunc(write)
			return
		}
		write(g)
		return
	}
	method := kinds[f.Type.Kind].part
	if f.Type.Optional {
		method = "Opt" + method
	}
	g.Add(call("f."+method, lit(f.Name), plainText(f.Type, src)))
}
