package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveTypes reads the types of the spec as they are where their members are found; first are
// those of another naming, or nil.
func resolveTypes(report *syntax.Diagnostics, spec *syntax.Spec, at place, first *draft.Types) *draft.Types {
	ts := &draft.Types{Naming: at.naming, Used: map[string]bool{}}
	if first != nil {
		ts.Used = first.Used
	}
	for _, t := range spec.Types {
		e := namedType(report, t, at, first)
		ts.All = append(ts.All, e)
		ts.Add(t.Name.Value, e)
	}
	checkCycles(report, ts)
	for _, e := range ts.All {
		if (spelling{ts, "snake_case", at.naming, map[*draft.Type]bool{}}).differs(e) {
			e.Model.Naming = at.naming
		}
		if e.Spec.Kind == syntax.ObjectType && (first == nil || e.Model.First != nil) && !resolveObject(report, ts, e, at) {
			e.Broken = true
		}
	}
	return ts
}

// namedType is an entry of types, without its members.
func namedType(report *syntax.Diagnostics, t *syntax.Type, at place, first *draft.Types) *draft.Type {
	if first != nil {
		return otherwise(first, t, at.naming)
	}
	e := &draft.Type{
		Spec:   t,
		Model:  &model.Type{Name: t.Name.Value, GoName: t.Name.Value, Doc: docOf(t.Doc)},
		Broken: t.Broken || t.Kind == 0,
	}
	if t.Kind == syntax.EnumType {
		resolveEnum(report, e)
	}
	return e
}

func resolveEnum(report *syntax.Diagnostics, e *draft.Type) {
	for _, v := range e.Spec.Enum {
		word := goname.Of(v.Value)
		if word == "" {
			report.Add(v.Pos, "E201", fmt.Sprintf("enum value %s cannot become a Go name", wording.Quote(v.Value)), "declare the field string")
			e.Broken = true
			continue
		}
		e.Model.Enum = append(e.Model.Enum, model.EnumValue{GoName: e.Model.GoName + word, Text: v.Value})
	}
}

// resolveObject reads the members of an object type and reports whether it is whole.
func resolveObject(report *syntax.Diagnostics, types *draft.Types, e *draft.Type, at place) bool {
	whole := !e.Broken
	owner := "type " + wording.Quote(e.Spec.Name.Value)
	for _, f := range e.Spec.Fields {
		info := resolveField(report, types, f, owner, at)
		if info.Field == nil {
			whole = false
			continue
		}
		if !checkMember(report, f, owner) {
			whole = false
		}
		info.Field.Sensitive = info.Field.Sensitive || e.Spec.Sensitive != nil && e.Spec.Sensitive.Value
		e.Model.Fields = append(e.Model.Fields, info.Field)
		e.Fields = append(e.Fields, info)
	}
	return checkPaths(report, e.Fields, owner, e.Spec.Name.Pos) && whole
}

// checkMember refuses a path that starts outside the object, and a member that is no whole value.
func checkMember(report *syntax.Diagnostics, f *syntax.Field, owner string) bool {
	if f.Patch != nil && f.Patch.Value {
		report.Add(f.Patch.Key, "E309", fmt.Sprintf("patch field %s is a member of %s, which is stored as a whole", wording.Quote(f.Name.Value), owner), "declare it as a field of the event")
		return false
	}
	if f.Path == nil || !f.Path.Whole {
		return true
	}
	report.Add(f.Path.Pos, "E306", fmt.Sprintf("path %s of field %s starts at the whole value, but the field is a member of %s", wording.Quote(f.Path.Text), wording.Quote(f.Name.Value), owner),
		"write the path relative to the object, without $")
	return false
}

// checkCycles reports every object type that contains itself; such types are broken.
func checkCycles(report *syntax.Diagnostics, types *draft.Types) {
	c := cycles{types: types, number: map[*draft.Type]int{}, low: map[*draft.Type]int{}, inCycle: map[*draft.Type]bool{}}
	for _, e := range types.All {
		c.visit(e)
	}
	for _, e := range types.All {
		if c.inCycle[e] {
			report.Add(e.Spec.Name.Pos, "E211", fmt.Sprintf("type %s contains itself", wording.Quote(e.Spec.Name.Value)), `use "json" for the recursive part`)
			e.Broken = true
		}
	}
}

// cycles finds the types that contain themselves: Tarjan's strongly connected components.
type cycles struct {
	types   *draft.Types
	number  map[*draft.Type]int // in order of discovery, from 1
	low     map[*draft.Type]int // the lowest number that can be reached; 0 = the component is done
	path    []*draft.Type
	inCycle map[*draft.Type]bool
}

func (c *cycles) visit(e *draft.Type) {
	if e == nil || c.number[e] > 0 {
		return
	}
	c.number[e] = len(c.number) + 1
	c.low[e] = c.number[e]
	c.path = append(c.path, e)
	for _, f := range e.Spec.Fields {
		ft := f.Type
		for ft != nil && ft.Elem != nil {
			ft = ft.Elem
		}
		if ft == nil || c.types.Find(ft.Name) == nil {
			continue
		}
		member := c.types.Find(ft.Name)
		c.inCycle[e] = c.inCycle[e] || member == e
		c.visit(member)
		if c.low[member] > 0 {
			c.low[e] = min(c.low[e], c.low[member])
		}
	}
	if c.low[e] < c.number[e] {
		return
	}
	from := slices.Index(c.path, e)
	component := c.path[from:]
	c.path = c.path[:from]
	for _, member := range component {
		c.low[member] = 0
		c.inCycle[member] = c.inCycle[member] || len(component) > 1
	}
}

// fieldType looks up a type text. It returns false for a type that is unknown or
// broken; either is reported.
func fieldType(report *syntax.Diagnostics, types *draft.Types, t *syntax.FieldType) (model.FieldType, bool) {
	if t == nil {
		return model.FieldType{}, false
	}
	out := model.FieldType{Optional: t.Optional}
	if t.Elem != nil {
		elem, ok := fieldType(report, types, t.Elem)
		if ok && elem.Optional {
			report.Add(t.Elem.Pos, "E208", "an element of a "+t.Name+" cannot be optional", `write "`+t.Name+`(`+typeword.Text(elem)+`)", or "json" for a `+t.Name+` with nulls`)
			ok = false
		}
		out.Kind, out.Elem = model.List, &elem
		if t.Name == "map" {
			out.Kind = model.Map
		}
		return out, ok
	}
	if s, ok := typeword.ScalarOf(t.Name); ok {
		out.Kind, out.Notation, out.AnyTime, out.Scale = s.Kind, s.Notation, s.AnyTime, s.Scale
		return out, true
	}
	e := types.Find(t.Name)
	types.Used[t.Name] = true
	if e == nil {
		unknownType(report, types, t.Name, t.NamePos)
		return out, false
	}
	out.Kind, out.Named = model.Object, e.Model
	if e.Spec.Kind == syntax.EnumType {
		out.Kind = model.Enum
	}
	return out, !e.Broken
}
