package protomsg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idemgen/idemgen/internal/asjson"
)

// wellKnown reports whether a message has a form of its own in JSON.
func wellKnown(m protoreflect.MessageDescriptor) bool {
	return m.FullName().Parent() == "google.protobuf" && m.Name() != "Empty"
}

// writer writes a message as JSON.
type writer struct {
	asjson.Writer
	types  resolver
	narrow narrow
	depth  int // objects and arrays that are open
}

const tooDeep = "is nested too deeply"

// appendMessage writes a message as JSON.
func (w *writer) appendMessage(b []byte, m protoreflect.Message) ([]byte, error) {
	if w.depth++; w.depth > asjson.MostDepth {
		w.depth--
		return w.Refuse(b, tooDeep), nil
	}
	defer func() { w.depth-- }()
	switch {
	case m.Descriptor().FullName() == anyType:
		return w.appendAny(b, m)
	case wellKnown(m.Descriptor()):
		return w.appendWellKnown(b, m), nil
	}
	b, err := w.appendMembers(append(b, '{'), m)
	return append(b, '}'), err
}

// appendWellKnown writes a message as the JSON mapping of protobuf has it. The library's errors
// hold values, and their texts are not the same each time.
func (w *writer) appendWellKnown(b []byte, m protoreflect.Message) []byte {
	text, err := protojson.Marshal(m.Interface())
	if err != nil {
		return w.Refuse(b, fmt.Sprintf("is a %s that has no form in JSON", m.Descriptor().FullName()))
	}
	if w.depth-1+asjson.Depth(text) > asjson.MostDepth {
		return w.Refuse(b, tooDeep)
	}
	var short bytes.Buffer // protojson puts spaces at random
	_ = json.Compact(&short, text)
	return append(b, short.Bytes()...)
}

const anyType = "google.protobuf.Any"

// appendAny writes a google.protobuf.Any: the URL of its type as member "@type", and beside it the
// members of its message, or "value" if that has a form of its own. The type is one of the
// schema's files, or a well-known one.
func (w *writer) appendAny(b []byte, m protoreflect.Message) ([]byte, error) {
	fields := m.Descriptor().Fields()
	url, value := m.Get(fields.ByName("type_url")).String(), m.Get(fields.ByName("value")).Bytes()
	if url == "" && len(value) == 0 {
		return append(b, "{}"...), nil
	}
	is, err := w.types.FindMessageByURL(url)
	if err != nil {
		return w.Refuse(b, "is a google.protobuf.Any of a type that the schema does not have"), nil
	}
	held := is.New()
	if proto.Unmarshal(value, held.Interface()) != nil {
		return w.Refuse(b, "is a google.protobuf.Any whose bytes are no message of its type"), nil
	}
	b = w.Text(append(b, `{"@type":`...), url)
	if wellKnown(held.Descriptor()) {
		b, err = w.appendMessage(append(b, `,"value":`...), held)
	} else {
		b, err = w.appendMembers(b, held)
	}
	return append(b, '}'), err
}

// appendMembers writes the members of an object, field by field in the order of the file.
func (w *writer) appendMembers(b []byte, m protoreflect.Message) (_ []byte, err error) {
	member := func(name protoreflect.Name) {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), `":`...)
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.HasPresence() && !m.Has(f) {
			continue
		}
		if of := f.ContainingOneof(); of != nil && !of.IsSynthetic() {
			member(of.Name())
			b = w.Text(b, string(f.Name()))
		}
		member(f.Name())
		if b, err = w.appendField(b, f, m.Get(f)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (w *writer) appendField(b []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) (_ []byte, err error) {
	if !f.IsList() && !f.IsMap() {
		return w.appendValue(b, f, v)
	}
	if w.depth++; w.depth > asjson.MostDepth {
		w.depth--
		return w.Refuse(b, tooDeep), nil
	}
	defer func() { w.depth-- }()
	if f.IsMap() {
		return w.appendMap(b, f, v.Map())
	}
	list := v.List()
	b = append(b, '[')
	for i := range list.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = w.appendValue(b, f, list.Get(i)); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendMap writes a map in the order of its names. The whole text may be a key, or content that
// duplicates share, and must be the same for the same message.
func (w *writer) appendMap(b []byte, f protoreflect.FieldDescriptor, of protoreflect.Map) (_ []byte, err error) {
	b = append(b, '{')
	start := len(b)
	keys := make([]protoreflect.MapKey, 0, of.Len())
	of.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(w.Name(b, k.String()), ':')
		if !w.narrow.holds(f.MapKey(), k.Value()) {
			b = w.Refuse(b, "is under a name that "+tooWide)
			continue
		}
		if b, err = w.appendValue(b, f.MapValue(), of.Get(k)); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (w *writer) appendValue(b []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	if err := w.Check(b); err != nil {
		return nil, err
	}
	if !w.narrow.holds(f, v) {
		return w.Refuse(b, tooWide), nil
	}
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return w.appendMessage(b, v.Message())
	case protoreflect.StringKind:
		return w.Text(b, v.String()), nil
	case protoreflect.BytesKind:
		return asjson.Bytes(b, v.Bytes()), nil
	case protoreflect.BoolKind:
		return strconv.AppendBool(b, v.Bool()), nil
	case protoreflect.EnumKind:
		if known := f.Enum().Values().ByNumber(v.Enum()); known != nil {
			return w.Text(b, string(known.Name())), nil
		}
		w.Note(b, fmt.Sprintf("is enum number %d, which has no name in %s", v.Enum(), f.Enum().FullName()))
		return strconv.AppendInt(b, int64(v.Enum()), 10), nil
	case protoreflect.FloatKind:
		return w.Float(b, v.Float(), 32), nil
	case protoreflect.DoubleKind:
		return w.Float(b, v.Float(), 64), nil
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	}
	return strconv.AppendInt(b, v.Int(), 10), nil
}
