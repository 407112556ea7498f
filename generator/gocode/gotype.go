package gocode

import (
	"fmt"
	"maps"

	"github.com/idemgen/idemgen/generator/model"
)

// An event that holds Go types of the service has two structs: the one that people see, and the
// record's, of built-in types. What is identified, compared and stored is the record's; a handler
// and DecodeX get the other one, made of it.

// recordType is the struct of an event as its record says it.
func recordType(e *model.Event) string {
	if e.HoldsGo() {
		return unexported(e.GoName) + "Record"
	}
	return e.GoName
}

// objectType is the struct of an object type as records say it.
func objectType(t *model.Type) string {
	if t.HoldsGo() {
		return unexported(t.GoName) + "Record"
	}
	return t.GoName
}

// typedEvent writes the struct of the record, and the method that makes the event of it.
func typedEvent(f *file, e *model.Event) {
	doc := fmt.Sprintf("%s is %s as its record says it: what is identified, compared and stored.", recordType(e), withArticle(e.GoName))
	f.structType(doc, recordType(e), func(g *group) {
		for _, field := range e.Fields {
			g.Add(named(field.GoName, fieldType(field)))
		}
		if e.HasCode() {
			g.Line()
			g.Add(text("event %s", e.GoName)).Comment("what the handler gets")
		}
		resultField(g, e)
	})
	typedMethod(f, "e", recordType(e), e.GoName, e.Fields)
}

// typedObject is typedEvent for an object type.
func typedObject(f *file, t *model.Type) {
	doc := fmt.Sprintf("%s is %s as records say it.", objectType(t), withArticle(t.GoName))
	f.structType(doc, objectType(t), func(g *group) {
		for _, m := range t.Fields {
			g.Add(named(m.GoName, fieldType(m)))
		}
	})
	typedMethod(f, "v", objectType(t), t.GoName, t.Fields)
}

// typedMethod writes the method that gives each field its Go type.
func typedMethod(f *file, recv, record, typ string, fields []*model.Field) {
	doc := fmt.Sprintf("typed is the %s with the Go types of the service.", typ)
	f.fn(doc, recv+" *"+record, "typed", []code{named("r", pointer(wire("Reader")))}, text(typ), func(g *group) {
		var elems []code
		for _, field := range fields {
			elems = append(elems, pair(field.GoName, typedValue(field.Type, recv+"."+field.GoName, fieldPath(field), field.Patch)))
		}
		g.Return(composite(text(typ), elems))
	})
}

// typedValue gives src, a value of the record at path, its Go type.
func typedValue(t model.FieldType, src, path string, patch bool) code {
	some := t
	some.Optional = false
	convert := func() code {
		return oneLine([]code{named("v", bareType(t))}, typedBare(t), typedValue(some, "v", path, false))
	}
	switch {
	case !t.HoldsGo():
		return text(src)
	case patch:
		return wire("PatchOf").Call(text(src), convert())
	case t.Optional && !nilable(t):
		return wire("Some").Call(text(src), convert())
	case t.Kind == model.List, t.Kind == model.Map:
		each := map[model.Kind]string{model.List: "Each", model.Map: "Values"}[t.Kind]
		elem := oneLine([]code{named("v", goType(*t.Elem))}, typedType(*t.Elem), typedValue(*t.Elem, "v", "", false))
		return wire(each).Call(text("r"), lit(path), text(src), elem)
	case t.Kind == model.Object && path == "":
		return text(src + ".typed(r)")
	case t.Kind == model.Object:
		object := oneLine([]code{named("v", bareType(t))}, typedBare(t), text("v.typed(r)"))
		return wire("Member").Call(text("r"), lit(path), text(src), object)
	case t.Go.Parses:
		return wire("Parse").Add(text("[").Add(typedBare(t)).Add(text("]"))).Call(text("r"), lit(path), text(src))
	}
	return typedBare(t).Call(text(src))
}

// typedField is the type of an event's field as people see it.
func typedField(f *model.Field) code {
	if !f.Patch {
		return typedType(f.Type)
	}
	return idem("Patch").Add(text("[").Add(typedBare(f.Type)).Add(text("]")))
}

// typedType is goType with the Go types of the service.
func typedType(t model.FieldType) code {
	if t.Optional && !nilable(t) {
		return pointer(typedBare(t))
	}
	return typedBare(t)
}

// typedBare is bareType with the Go types of the service.
func typedBare(t model.FieldType) *expr {
	switch {
	case t.Go != nil && t.Go.Package == "":
		return text(t.Go.Name)
	case t.Go != nil:
		return qual(t.Go.Path, t.Go.Name)
	case t.Kind == model.List:
		return text("[]").Add(typedType(*t.Elem))
	case t.Kind == model.Map:
		return text("map[string]").Add(typedType(*t.Elem))
	case t.Kind == model.Object:
		return text(t.Named.GoName)
	}
	return text("").Add(bareType(t))
}

// decodeOf is how the runtime decodes an event. A handler's event is typed then, too: what its
// types refuse has no key yet.
func decodeOf(e *model.Event) code {
	if !e.HasCode() || !e.HoldsGo() {
		return text("(*%s).decode", recordType(e))
	}
	params := []code{text("e *" + recordType(e)), text("s *" + decoderType(e.Topic)), named("m", pointer(wire("Message")))}
	return closure(params, nil, func(g *group) {
		g.Add(text("e.decode(s, m)"))
		g.Add(text("e.event = e.typed(&s.Reader)"))
	})
}

// handed is what a handler gets.
func handed(e *model.Event) string {
	if e.HoldsGo() {
		return "e.event"
	}
	return "*e"
}

// decodeTyped decodes the record m into e, the event that people see.
func decodeTyped(g *group, e *model.Event, m string) {
	if !e.HoldsGo() {
		g.Add(text("e.decode(&s, %s)", m))
		return
	}
	g.Add(text("var r %s", recordType(e)))
	g.Add(text("r.decode(&s, %s)", m))
	g.Add(text("e = r.typed(&s.Reader)"))
}

// takenNames are names of packages, parameters and variables in generated code: a package of the
// service that has one of them is imported under another.
var takenNames = map[string]bool{
	"idem": true, "wire": true, "pgxpool": true, "context": true, "time": true, "json": true, "slices": true,
	"ctx": true, "tx": true, "db": true, "opts": true, "err": true, "old": true, "seen": true, "pos": true, "first": true, "ok": true,
	"fresh": true, "envelope": true, "opened": true, "eventType": true, "version": true, "name": true, "topic": true, "event": true,
}

// importGoTypes says what the packages of the service's Go types are called.
func (f *file) importGoTypes(s *model.Service) {
	taken := maps.Clone(takenNames)
	for _, format := range formats {
		_, name := format.library()
		taken[name] = true
	}
	for _, t := range s.GoTypes {
		switch {
		case t.Package == "":
		case taken[t.Package] || len(t.Package) < 3:
			f.jen.ImportAlias(t.Path, t.Package+"types")
		default:
			f.jen.ImportName(t.Path, t.Package)
		}
	}
}
