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
	f.decl(fmt.Sprintf("%s separates the keys of %s from all others that must differ.", spaceConst(e), e.GoName), spaceConstant(spaceConst(e), e.Key.Space))
	header := "Header"
	if e.Key.OffsetIfMissing {
		header = "HeaderOrOffset"
	}
	doc := fmt.Sprintf("key identifies the event by %s. Its copies are known for %s at least.", keyDoc(e.Key.Parts), model.DurationText(e.Key.Window))
	f.fn(doc, "e *"+e.GoName, "key", keyParams(e.Key.Parts), results(idem("Key"), text("error")), func(g *group) {
		keyParts(g, spaceConst(e), e.Key.Parts, header)
		g.Return(text("k.Sum(%q)", e.GoName))
	})
	for i, former := range e.Key.Former {
		name := formerMethod(i)
		doc := name + " is the key by " + keyDoc(former.Parts) + ", which identified the event before."
		f.fn(doc, "e *"+e.GoName, name, keyParams(former.Parts), idem("Key"), func(g *group) {
			g.Add(spaceConstant("space", former.Space))
			keyParts(g, "space", former.Parts, "Header")
			g.Return(call("k.Former"))
		})
	}
}

// formerMethod names the method that makes the i-th former key.
func formerMethod(i int) string { return fmt.Sprintf("formerKey%d", i+1) }

func keyParams(parts []model.KeySource) []code {
	params := []code{named("k", pointer(wire("KeyBuilder")))}
	if keyHeaders(parts) {
		params = append(params, named("m", pointer(wire("Message"))))
	}
	return params
}

// spaceConstant is the constant that is hashed before the parts of a key.
func spaceConstant(name string, space [16]byte) code {
	var escaped strings.Builder
	for _, b := range space {
		fmt.Fprintf(&escaped, `\x%02x`, b)
	}
	return text(`const %s = "%s"`, name, escaped.String())
}

// keyParts adds the parts of a source; header is the method for headers.
func keyParts(g *group, space string, parts []model.KeySource, header string) {
	g.Add(call("k.Start", text(space)))
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

func keyHeaders(parts []model.KeySource) bool {
	return slices.ContainsFunc(parts, func(s model.KeySource) bool { return s.Field == nil })
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

// fingerprintMethod writes the method that sums up what copies of an event must share.
func fingerprintMethod(f *file, e *model.Event) {
	params := []code{named("f", pointer(wire("Fingerprint")))}
	if buffersPrint(e) {
		params = append(params, text("b *[]byte"))
	}
	f.fn("", "e *"+e.GoName, "fingerprint", params, text("uint32"), func(g *group) {
		g.Add(call("f.Start"))
		for _, field := range e.Key.Compared {
			fingerprintField(g, field)
		}
		g.Return(call("f.Sum"))
	})
}

// buffersPrint reports whether the fingerprint needs a buffer for JSON.
func buffersPrint(e *model.Event) bool {
	return !e.Key.Offset && slices.ContainsFunc(e.Key.Compared, func(f *model.Field) bool { return composed(f.Type) })
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
