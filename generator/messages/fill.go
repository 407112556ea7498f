package messages

import (
	"slices"
	"strings"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idemgen/idemgen/schema"
)

// fill gives the events of a topic that declare no fields those of their message. Types of
// messages and enums in it have their names, and may be in the spec.
func (a *All) fill(t *schema.Topic, m protoreflect.MessageDescriptor) {
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
		of := below(m, path)
		if of == nil {
			a.problems.Add(at, "E117", "event "+e.Name.Value+" has no message at "+strings.Join(path, "."), "its root is a field of message "+string(m.FullName())+" that is a message")
			continue
		}
		e.Fields, e.FieldsKey, e.Taken = a.fields(of, at, nil), at, true
	}
}

// below is the message at a path; nil if there is none.
func below(m protoreflect.MessageDescriptor, path []string) protoreflect.MessageDescriptor {
	for _, name := range path {
		f := m.Fields().ByName(protoreflect.Name(name))
		if f == nil || f.Message() == nil || f.IsList() || f.IsMap() {
			return nil
		}
		m = f.Message()
	}
	return m
}

// object returns the name of the type for a message, and adds it to the spec if it is not there.
// above are the messages that it is in: what holds itself is JSON.
func (a *All) object(m protoreflect.MessageDescriptor, at schema.Pos, above []protoreflect.FullName) string {
	name := a.name(m)
	if !a.has(name) {
		a.spec.Types = append(a.spec.Types, schema.NewObject(name, a.fields(m, at, above), at))
	}
	return name
}

// name is what the type for a message or an enum is called: not as an event.
func (a *All) name(d protoreflect.Descriptor) string {
	name := string(d.Name())
	for _, t := range a.spec.Topics {
		for _, e := range t.Events {
			if e.Name.Value == name {
				return name + "Message"
			}
		}
	}
	return name
}

// fields are those of a message.
func (a *All) fields(m protoreflect.MessageDescriptor, at schema.Pos, above []protoreflect.FullName) (fields []*schema.Field) {
	above = append(above[:len(above):len(above)], m.FullName())
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		typ := a.typeText(f, at, above)
		if f.HasPresence() {
			typ = "optional " + typ
		}
		fields = append(fields, schema.NewField(snake(string(f.Name())), typ, []string{string(f.Name())}, at))
	}
	return fields
}

func (a *All) has(name string) bool {
	return slices.ContainsFunc(a.spec.Types, func(t *schema.Type) bool { return t.Name.Value == name })
}

// typeText is the type of a spec that reads a field.
func (a *All) typeText(f protoreflect.FieldDescriptor, at schema.Pos, above []protoreflect.FullName) string {
	switch {
	case f.IsMap():
		return "map(" + a.singleText(f.MapValue(), at, above) + ")"
	case f.IsList():
		return "list(" + a.singleText(f, at, above) + ")"
	}
	return a.singleText(f, at, above)
}

func (a *All) singleText(f protoreflect.FieldDescriptor, at schema.Pos, above []protoreflect.FullName) string {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		m := f.Message()
		switch full := m.FullName(); {
		case full == "google.protobuf.Timestamp":
			return "timestamp"
		case full.Parent() == "google.protobuf" || slices.Contains(above, full):
			return "json"
		}
		return a.object(m, at, above)
	case protoreflect.EnumKind:
		name := a.name(f.Enum())
		if !a.has(name) {
			var texts []string
			for i := range f.Enum().Values().Len() {
				texts = append(texts, string(f.Enum().Values().Get(i).Name()))
			}
			a.spec.Types = append(a.spec.Types, schema.NewEnum(name, texts, at))
		}
		return name
	case protoreflect.BoolKind:
		return "bool"
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return "int32"
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return "int64"
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return "decimal"
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return "float64"
	case protoreflect.BytesKind:
		return "bytes"
	}
	return "string"
}

// snake is a name as fields of a spec have it: orderId is order_id.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
