package messages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// fill gives the events of a topic that declare no fields those of their message. Types of
// messages and enums in it have their names, and may be in the spec.
func (a *All) fill(t *syntax.Topic, is *shape) {
	for _, e := range t.Events {
		if e.Broken || e.Fields != nil || e.FieldsType != nil || e.Tombstone != nil && e.Tombstone.Value {
			continue
		}
		var path []string
		if t.Payload.Root != nil {
			path = t.Payload.Root.Members
		}
		if r := e.Root; r != nil && r.Whole {
			path = r.Members
		} else if r != nil {
			path = slices.Concat(path, r.Members)
		}
		at := t.Payload.Schema.Pos
		of := is.below(path)
		if of == nil || !of.object() {
			says, hint := "event "+e.Name.Value+" has no message at "+strings.Join(path, "."), "root must be a field of "+is.says+" that has fields"
			if len(path) == 0 {
				says, hint = "event "+e.Name.Value+" has no fields, and neither has its schema, which is "+is.says, "for example fields: {text: {type: string, path: $}}"
			}
			a.problems.Add(at, "E117", says, hint)
			continue
		}
		e.Fields, e.FieldsKey, e.Taken = a.fields(of, at, nil), at, true
	}
}

// fields are those of an object. above are the objects that it is in: what holds itself is JSON.
func (a *All) fields(s *shape, at syntax.Pos, above []*shape) (fields []*syntax.Field) {
	above = append(above[:len(above):len(above)], s)
	for _, m := range s.members {
		if m.told {
			continue
		}
		typ := a.typeText(m.is, at, above)
		if m.optional {
			typ = "optional " + typ
		}
		fields = append(fields, syntax.NewField(syntax.FieldName(m.name), typ, []string{m.name}, at))
	}
	return fields
}

// typeText is the type of a spec that reads a value.
func (a *All) typeText(s *shape, at syntax.Pos, above []*shape) string {
	if len(s.kinds) == 0 || s.nulls || slices.Contains(above, s) {
		return "json"
	}
	switch s.kinds[0] {
	case model.List:
		return "list(" + a.typeText(s.elem, at, above) + ")"
	case model.Map:
		return "map(" + a.typeText(s.elem, at, above) + ")"
	case model.Object:
		name, there := a.name(s)
		if !there {
			a.made[name] = s.says
			a.spec.Types = append(a.spec.Types, syntax.NewObject(name, a.fields(s, at, above), at))
		}
		return name
	case model.Enum:
		name, there := a.name(s)
		if !there {
			a.made[name] = s.says
			a.spec.Types = append(a.spec.Types, syntax.NewEnum(name, s.symbols, at))
		}
		return name
	}
	return words[s.kinds[0]]
}

// name is what the type for an object or an enum is called, and whether it is there: the spec may
// declare it. It is not called as an event is, nor as the type of another one that has its name.
func (a *All) name(s *shape) (name string, there bool) {
	base := syntax.TypeName(s.name)
	for _, t := range a.spec.Topics {
		for _, e := range t.Events {
			if e.Name.Value == base {
				base += "Message"
			}
		}
	}
	name = base
	for n := 2; ; n++ {
		has := slices.ContainsFunc(a.spec.Types, func(t *syntax.Type) bool { return t.Name.Value == name })
		made, ours := a.made[name]
		if !has && !ours || ours && made == s.says {
			return name, ours
		}
		if !ours {
			return name, true
		}
		name = base + strconv.Itoa(n)
	}
}
