package gocode

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// findTypes notes which named types are read and which are written as JSON, so that no
// generated function is unused.
func (p *pkg) findTypes() {
	p.decoded, p.appended = map[*model.Type]bool{}, map[*model.Type]bool{}
	for _, t := range p.service.Topics {
		for _, e := range t.Events {
			for _, f := range e.Fields {
				mark(p.decoded, f.Type)
			}
			if e.Effect != nil && e.Effect.Result != nil {
				result := model.FieldType{Kind: model.Object, Named: e.Effect.Result}
				mark(p.decoded, result)
				mark(p.appended, first(result))
			}
			for _, f := range e.Fields {
				if p.needsJSON(e, f) {
					mark(p.appended, first(f.Type))
				}
			}
			for _, s := range e.Steps {
				for _, a := range s.Params() {
					if a.Value.Kind == model.ElemValue && isJSON(a.Column) {
						mark(p.appended, first(s.TypeOf(a.Value)))
					}
				}
			}
		}
	}
}

// mark notes a type and those in it, each as its naming spells it.
func mark(set map[*model.Type]bool, t model.FieldType) {
	switch {
	case t.Elem != nil:
		mark(set, *t.Elem)
	case t.Named != nil && !set[t.Named]:
		set[t.Named] = true
		for _, f := range t.Named.Fields {
			mark(set, f.Type)
		}
	}
}

// first is a type as the first topic reads it, which is the Go type that both have.
func first(t model.FieldType) model.FieldType {
	switch {
	case t.Elem != nil:
		elem := first(*t.Elem)
		t.Elem = &elem
	case t.Named != nil && t.Named.First != nil:
		t.Named = t.Named.First
	}
	return t
}

// spellings are a type and what it is where payloads of another naming are read, in the order
// of their namings.
func (p *pkg) spellings(t *model.Type) []*model.Type {
	all := []*model.Type{t}
	for other := range p.decoded {
		if other.First == t && other != t {
			all = append(all, other)
		}
	}
	slices.SortFunc(all[1:], func(a, b *model.Type) int { return strings.Compare(a.Naming, b.Naming) })
	return all
}

// placed is a member, without the place where it is read if spellings differ in that.
func placed(m *model.Field, i int, spellings []*model.Type) *model.Field {
	for _, s := range spellings {
		if !slices.Equal(s.Fields[i].Source.Path, m.Source.Path) {
			anywhere := *m
			anywhere.Source.Path = []string{m.Name}
			return &anywhere
		}
	}
	return m
}

// decodeName is the method by which an object type is read. There is one for each naming.
func decodeName(t *model.Type) string {
	if t.First == nil {
		return "decodeJSON"
	}
	return "decodeJSON" + upperFirst(flagName(cmp.Or(t.Naming, "snake_case")))
}

func isJSON(c *model.Column) bool {
	return c != nil && (c.Type.Kind == model.ColJSONB || c.Type.Kind == model.ColJSON)
}

// needsJSON reports whether a field of objects, lists or maps is written as JSON: into a column
// or for the fingerprint.
func (p *pkg) needsJSON(e *model.Event, f *model.Field) bool {
	if !composed(f.Type) {
		return false
	}
	if slices.Contains(e.Key.Compared, f) {
		return true
	}
	for _, s := range e.Steps {
		for _, a := range s.Params() {
			if a.Value.Field == f && isJSON(a.Column) {
				return true
			}
		}
	}
	return false
}

// enum writes a named string with its constants.
func (p *pkg) enum(f *file, t *model.Type) {
	values := fmt.Sprintf("The values of %s.", t.GoName)
	f.decl(docOf(t.Doc, fmt.Sprintf("%s is type %q of the spec.", t.GoName, t.Name)), text("type %s string", t.GoName))
	f.parens(values, "const", func(g *group) {
		for _, v := range t.Enum {
			g.Add(text("%s %s = %q", v.GoName, t.GoName, v.Text))
		}
	})
	if !p.decoded[t] {
		return
	}
	var listed []code
	for _, v := range t.Enum {
		listed = append(listed, text(v.GoName))
	}
	f.variable("", valuesVar(t), composite(slice(text(t.GoName)), listed))
}

// object writes a struct with its decoder and, where it is stored or compared as JSON, its
// encoder.
func (p *pkg) object(f *file, t *model.Type) {
	spellings := p.spellings(t)
	f.structType(docOf(t.Doc, fmt.Sprintf("%s is type %q of the spec.", t.GoName, t.Name)), t.GoName, func(g *group) {
		for i, m := range t.Fields {
			structField(g, placed(m, i, spellings))
		}
	})
	redaction(f, t.GoName, t.Fields)
	for _, spelled := range spellings {
		if p.decoded[spelled] {
			decodeType(f, spelled)
		}
	}
	if p.appended[t] {
		p.appendJSON(f, t)
	}
	for _, spelled := range spellings {
		if isResult(p.service, spelled) {
			jsonResult(f, spelled)
		}
	}
}

// appendJSON writes the method by which an object becomes JSON: members in declared
// order, named as in the spec, NULL as null.
func (p *pkg) appendJSON(f *file, t *model.Type) {
	f.fn("", "v *"+t.GoName, "appendJSON", []code{text("b []byte")}, text("[]byte"), func(g *group) {
		sep := "{"
		for _, m := range t.Fields {
			g.Add(text("b = append(b, `%s%q:`...)", sep, m.Name))
			appendValue(g, "b", "v."+m.GoName, m.Type, 0)
			sep = ","
		}
		if len(t.Fields) == 0 {
			g.Add(text("b = append(b, '{')"))
		}
		g.Return(text("append(b, '}')"))
	})
}

// indexes are the loop variables of nested lists.
var indexes = []string{"i", "j", "k", "l"}

// appendValue appends src, a value of type t, to the buffer dst as JSON.
func appendValue(g *group, dst, src string, t model.FieldType, depth int) {
	if t.Optional {
		g.If(text(src + " == nil")).Block(
			text(dst + " =").Add(wire("AppendNull").Call(text(dst))),
		).Else().BlockFunc(func(g *group) {
			some := t
			some.Optional = false
			if !nilable(t) && t.Kind != model.Object {
				src = "*" + src
			}
			appendValue(g, dst, src, some, depth)
		})
		return
	}
	if t.Kind == model.List {
		appendElements(g, dst, dst, src, *t.Elem, depth)
		g.Add(text("%s = append(%s, ']')", dst, dst))
		return
	}
	g.Add(text(dst + " =").Add(appended(dst, src, t, depth)))
}

// appended is the buffer dst with src behind it, a value that is no list.
func appended(dst, src string, t model.FieldType, depth int) code {
	switch t.Kind {
	case model.Object:
		return text("%s.appendJSON(%s)", src, dst)
	case model.Map:
		return wire("AppendMap").Call(text(dst), text(src), putter(*t.Elem, depth+1))
	case model.Enum:
		src = "string(" + src + ")"
	case model.Int32:
		src = "int64(" + src + ")"
	}
	return wire(kinds[t.Kind].append).Call(text(dst), text(src))
}

// putter is the function that appends a value of a map.
func putter(t model.FieldType, depth int) code {
	switch {
	case t.Kind == model.List:
		return closure([]code{text("b []byte"), named("v", goType(t))}, []code{text("[]byte")}, func(g *group) {
			returnAppended(g, "v", t, depth)
		})
	case composed(t), t.Kind == model.Enum, t.Kind == model.Int32, t.Kind == model.JSON:
		return oneLine([]code{text("b []byte"), named("v", goType(t))}, text("[]byte"), appended("b", "v", t, depth))
	}
	return wire(kinds[t.Kind].append)
}

// returnAppended returns the buffer b with src, a list or a map, behind it.
func returnAppended(g *group, src string, t model.FieldType, depth int) {
	if t.Kind == model.Map {
		g.Return(appended("b", src, t, depth))
		return
	}
	appendElements(g, "b", "b", src, *t.Elem, depth)
	g.Return(text("append(b, ']')"))
}

// appendElements writes a list up to its closing bracket; the buffer dst begins as start.
func appendElements(g *group, dst, start, src string, elem model.FieldType, depth int) {
	i := indexes[depth%len(indexes)]
	g.Add(text("%s = append(%s, '[')", dst, start))
	g.For(text("%s := range %s", i, src)).BlockFunc(func(g *group) {
		g.If(text("%s > 0", i)).Block(text("%s = append(%s, ',')", dst, dst))
		appendValue(g, dst, src+"["+i+"]", elem, depth+1)
	})
}
