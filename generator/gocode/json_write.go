package gocode

import (
	"cmp"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/generator/model"
)

// writing is how values become JSON.
type writing int

const (
	// stored is for columns, results and fingerprints: members have their names in the spec, and
	// each value the usual notation.
	stored writing = iota
	// sent is for payloads: members and values as their fields are declared.
	sent
)

// object writes the method by which an object becomes JSON: members in declared order, NULL as
// null.
func (w writing) object(f *file, t *model.Type) {
	f.fn("", "v *"+objectType(t), w.method(t), []code{text("b []byte")}, text("[]byte"), func(g *group) {
		w.members(g, "v", t.Fields)
	})
}

// method is the name of the method of an object type.
func (w writing) method(t *model.Type) string {
	switch {
	case w == stored:
		return "appendJSON"
	case t.First == nil:
		return "encodeJSON"
	}
	return "encodeJSON" + upperFirst(flagName(cmp.Or(t.Naming, "snake_case")))
}

// members returns the buffer b with the fields of recv behind it, as an object.
func (w writing) members(g *group, recv string, fields []*model.Field) {
	sep := "{"
	for _, m := range fields {
		name := m.Name
		if w == sent {
			name = m.Source.Path[0]
		}
		g.Add(text("b = append(b, %s...)", rawText(sep+strconv.Quote(name)+":")))
		w.value(g, "b", recv+"."+m.GoName, m.Type, 0)
		sep = ","
	}
	if len(fields) == 0 {
		g.Add(text("b = append(b, '{')"))
	}
	g.Return(text("append(b, '}')"))
}

// rawText is a Go literal of a text, without escapes where there need be none.
func rawText(s string) string {
	if strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// indexes are the loop variables of nested lists.
var indexes = []string{"i", "j", "k", "l"}

// value appends src, a value of type t, to the buffer dst as JSON.
func (w writing) value(g *group, dst, src string, t model.FieldType, depth int) {
	if t.Optional {
		g.If(text(src + " == nil")).Block(
			text(dst + " =").Add(wire("AppendNull").Call(text(dst))),
		).Else().BlockFunc(func(g *group) {
			some := t
			some.Optional = false
			if !nilable(t) && t.Kind != model.Object {
				src = "*" + src
			}
			w.value(g, dst, src, some, depth)
		})
		return
	}
	if t.Kind == model.List {
		w.elements(g, dst, dst, src, *t.Elem, depth)
		g.Add(text("%s = append(%s, ']')", dst, dst))
		return
	}
	g.Add(text(dst + " =").Add(w.appended(dst, src, t, depth)))
}

// appended is the buffer dst with src behind it, a value that is no list.
func (w writing) appended(dst, src string, t model.FieldType, depth int) code {
	switch t.Kind {
	case model.Object:
		return text("%s.%s(%s)", src, w.method(t.Named), dst)
	case model.Map:
		return wire("AppendMap").Call(text(dst), text(src), w.putter(*t.Elem, depth+1))
	case model.Enum:
		src = "string(" + src + ")"
	case model.Int32:
		src = "int64(" + src + ")"
	}
	if w == sent && t.Notation != model.Usual {
		return noted(dst, src, t)
	}
	return wire(kinds[t.Kind].append).Call(text(dst), text(src))
}

// putter is the function that appends a value of a map.
func (w writing) putter(t model.FieldType, depth int) code {
	switch {
	case t.Kind == model.List:
		return closure([]code{text("b []byte"), named("v", goType(t))}, []code{text("[]byte")}, func(g *group) {
			w.returned(g, "v", t, depth)
		})
	case composed(t), t.Kind == model.Enum, t.Kind == model.Int32, t.Kind == model.JSON, w == sent && t.Notation != model.Usual:
		return oneLine([]code{text("b []byte"), named("v", goType(t))}, text("[]byte"), w.appended("b", "v", t, depth))
	}
	return wire(kinds[t.Kind].append)
}

// returned returns the buffer b with src, a list or a map, behind it.
func (w writing) returned(g *group, src string, t model.FieldType, depth int) {
	if t.Kind == model.Map {
		g.Return(w.appended("b", src, t, depth))
		return
	}
	w.elements(g, "b", "b", src, *t.Elem, depth)
	g.Return(text("append(b, ']')"))
}

// elements writes a list up to its closing bracket; the buffer dst begins as start.
func (w writing) elements(g *group, dst, start, src string, elem model.FieldType, depth int) {
	i := indexes[depth%len(indexes)]
	g.Add(text("%s = append(%s, '[')", dst, start))
	g.For(text("%s := range %s", i, src)).BlockFunc(func(g *group) {
		g.If(text("%s > 0", i)).Block(text("%s = append(%s, ',')", dst, dst))
		w.value(g, dst, src+"["+i+"]", elem, depth+1)
	})
}

// noted is appended for a value in a notation of its field.
func noted(dst, src string, t model.FieldType) code {
	switch t.Notation {
	case model.Base64URL:
		return wire("AppendBase64URL").Call(text(dst), text(src))
	case model.Hex:
		return wire("AppendHex").Call(text(dst), text(src))
	case model.EpochDays:
		return wire("AppendDays").Call(text(dst), text(src))
	}
	return wire("AppendUnix").Call(text(dst), text(src), qual("time", unitName(t.Notation.Unit())))
}

// unitName is the name of a unit in package time.
func unitName(d time.Duration) string {
	return map[time.Duration]string{time.Second: "Second", time.Millisecond: "Millisecond", time.Microsecond: "Microsecond", time.Nanosecond: "Nanosecond"}[d]
}
