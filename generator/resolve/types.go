package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// typeEntry is an entry of types. Of a broken one only the name is known.
type typeEntry struct {
	spec   *schema.Type
	model  *model.Type
	fields []fieldInfo // of an object, as far as they were accepted
	broken bool
}

// types are the entries of types.
type types struct {
	all    []*typeEntry // in spec order
	byName map[string]*typeEntry
}

func resolveTypes(report *schema.Diagnostics, entries []*schema.Type) *types {
	ts := &types{byName: map[string]*typeEntry{}}
	for _, t := range entries {
		e := &typeEntry{
			spec:   t,
			model:  &model.Type{Name: t.Name.Value, GoName: goNameOr(t.Name.Value, t.Doc), Doc: docOf(t.Doc)},
			broken: t.Broken || t.Kind == 0,
		}
		ts.all, ts.byName[t.Name.Value] = append(ts.all, e), e
		if t.Kind == schema.EnumType {
			resolveEnum(report, e)
		}
	}
	checkCycles(report, ts)
	for _, e := range ts.all {
		if e.spec.Kind == schema.ObjectType && !resolveObject(report, ts, e) {
			e.broken = true
		}
	}
	return ts
}

// names are the names of all types.
func (ts *types) names() []string {
	var names []string
	for _, e := range ts.all {
		names = append(names, e.spec.Name.Value)
	}
	return names
}

func resolveEnum(report *schema.Diagnostics, e *typeEntry) {
	for _, v := range e.spec.Enum {
		word := goName(v.Name.Value)
		if word == "" {
			report.Add(v.Name.Pos, "E201", fmt.Sprintf("enum value %s gives no Go name", quote(v.Name.Value)),
				"write the enum as a map: enum: {name: "+quote(v.Wire.Value)+"}")
			e.broken = true
			continue
		}
		e.model.Enum = append(e.model.Enum, model.EnumValue{GoName: e.model.GoName + word, Text: v.Wire.Value})
	}
}

// resolveObject reads the members of an object type and reports whether it is whole.
func resolveObject(report *schema.Diagnostics, types *types, e *typeEntry) bool {
	whole := !e.broken
	owner := "type " + quote(e.spec.Name.Value)
	for _, f := range e.spec.Fields {
		info := resolveField(report, types, f, owner)
		if info.field == nil {
			whole = false
			continue
		}
		if !checkMember(report, f, owner) {
			whole = false
		}
		e.model.Fields = append(e.model.Fields, info.field)
		e.fields = append(e.fields, info)
	}
	return checkPaths(report, e.fields, owner, e.spec.Name.Pos) && whole
}

// checkMember refuses a path that starts outside the object.
func checkMember(report *schema.Diagnostics, f *schema.Field, owner string) bool {
	if f.Path == nil || !f.Path.Whole {
		return true
	}
	report.Add(f.Path.Pos, "E306", fmt.Sprintf("path %s of field %s starts at the whole value, but the field is a member of %s", quote(f.Path.Text), quote(f.Name.Value), owner),
		"write the path from the object on, without $")
	return false
}

// checkCycles reports every object type that contains itself; such types are broken.
func checkCycles(report *schema.Diagnostics, types *types) {
	c := cycles{types: types, number: map[*typeEntry]int{}, low: map[*typeEntry]int{}, inCycle: map[*typeEntry]bool{}}
	for _, e := range types.all {
		c.visit(e)
	}
	for _, e := range types.all {
		if c.inCycle[e] {
			report.Add(e.spec.Name.Pos, "E211", fmt.Sprintf("type %s contains itself", quote(e.spec.Name.Value)), `use "json" for the recursive part`)
			e.broken = true
		}
	}
}

// cycles finds the types that contain themselves: Tarjan's strongly connected components.
type cycles struct {
	types   *types
	number  map[*typeEntry]int // in order of discovery, from 1
	low     map[*typeEntry]int // the lowest number that can be reached; 0 = the component is done
	path    []*typeEntry
	inCycle map[*typeEntry]bool
}

func (c *cycles) visit(e *typeEntry) {
	if e == nil || c.number[e] > 0 {
		return
	}
	c.number[e] = len(c.number) + 1
	c.low[e] = c.number[e]
	c.path = append(c.path, e)
	for _, f := range e.spec.Fields {
		ft := f.Type
		for ft != nil && ft.Elem != nil {
			ft = ft.Elem
		}
		if ft == nil || c.types.byName[ft.Name] == nil {
			continue
		}
		member := c.types.byName[ft.Name]
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
func fieldType(report *schema.Diagnostics, types *types, t *schema.FieldType) (model.FieldType, bool) {
	if t == nil {
		return model.FieldType{}, false
	}
	out := model.FieldType{Optional: t.Optional}
	if t.Elem != nil {
		elem, ok := fieldType(report, types, t.Elem)
		if ok && elem.Optional {
			report.Add(t.Elem.Pos, "E208", "an element of a list cannot be optional", `write "list(`+typeText(elem)+`)", or "json" for a list with nulls`)
			ok = false
		}
		out.Kind, out.Elem = model.List, &elem
		return out, ok
	}
	if s, ok := scalarOf(t.Name); ok {
		out.Kind, out.Notation = s.kind, s.notation
		return out, true
	}
	e := types.byName[t.Name]
	if e == nil {
		report.Add(t.NamePos, "E208", "unknown type "+quote(t.Name), types.unknownTypeHint(t.Name))
		return out, false
	}
	out.Kind, out.Named = model.Object, e.model
	if e.spec.Kind == schema.EnumType {
		out.Kind = model.Enum
	}
	return out, !e.broken
}
