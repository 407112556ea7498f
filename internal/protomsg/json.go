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
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idemgen/idemgen/internal/asjson"
)

// wellKnown reports whether a message has a form of its own in JSON.
func wellKnown(m protoreflect.MessageDescriptor) bool {
	return m.FullName().Parent() == "google.protobuf" && m.Name() != "Empty"
}

// writer writes a message as JSON. The message is of a wide type, beside which is that of the
// schema.
type writer struct {
	asjson.Writer
	types, wide *dynamicpb.Types
	depth       int // objects and arrays that are open
}

const tooDeep = "is nested too deeply"

// appendMessage writes a message as JSON.
func (w *writer) appendMessage(b []byte, is protoreflect.MessageDescriptor, m protoreflect.Message) ([]byte, error) {
	if w.depth++; w.depth > asjson.MostDepth {
		w.depth--
		return w.Refuse(b, tooDeep), nil
	}
	defer func() { w.depth-- }()
	if is.FullName() == anyType || wellKnown(is) {
		if why := flaw(is, m); why != "" {
			return w.Refuse(b, why), nil
		}
		if is.FullName() == anyType {
			return w.appendAny(b, m)
		}
		return w.appendWellKnown(b, is, m), nil
	}
	b, err := w.appendMembers(append(b, '{'), is, m)
	return append(b, '}'), err
}

// appendWellKnown writes a message without a flaw as the JSON mapping of protobuf has it. The
// library's errors hold values, and their texts are not the same each time.
func (w *writer) appendWellKnown(b []byte, is protoreflect.MessageDescriptor, m protoreflect.Message) []byte {
	var text []byte
	narrow := dynamicpb.NewMessage(is)
	packed, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m.Interface())
	if err == nil {
		err = decoding.Unmarshal(packed, narrow)
	}
	if err == nil {
		text, err = protojson.MarshalOptions{AllowPartial: true}.Marshal(narrow)
	}
	if err != nil {
		return w.Refuse(b, fmt.Sprintf("is a %s that has no form in JSON", is.FullName()))
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
	wide, err := w.wide.FindMessageByURL(url)
	if err != nil {
		return nil, err
	}
	held := wide.New()
	if decoding.Unmarshal(value, held.Interface()) != nil {
		return w.Refuse(b, "is a google.protobuf.Any whose bytes are not a message of its type"), nil
	}
	b = w.Text(append(b, `{"@type":`...), url)
	if wellKnown(is.Descriptor()) {
		b, err = w.appendMessage(append(b, `,"value":`...), is.Descriptor(), held)
	} else {
		b, err = w.appendMembers(b, is.Descriptor(), held)
	}
	return append(b, '}'), err
}

// appendMembers writes the members of an object, field by field in the order of the file.
func (w *writer) appendMembers(b []byte, is protoreflect.MessageDescriptor, m protoreflect.Message) (_ []byte, err error) {
	member := func(name protoreflect.Name) {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), `":`...)
	}
	wrong := mistyped(m)
	var unclear map[protoreflect.Name]bool // oneofs whose last member is not known: whether that was said
	for n := range wrong {
		if of := is.Fields().ByNumber(n).ContainingOneof(); of != nil {
			if unclear == nil {
				unclear = map[protoreflect.Name]bool{}
			}
			unclear[of.Name()] = false
		}
	}
	for i := range is.Fields().Len() {
		f, wide := is.Fields().Get(i), m.Descriptor().Fields().Get(i)
		bad := wrong[f.Number()]
		if !bad && f.HasPresence() && !m.Has(wide) {
			continue
		}
		if of := f.ContainingOneof(); of != nil && !of.IsSynthetic() {
			said, is := unclear[of.Name()]
			if !said {
				member(of.Name())
			}
			switch bad = is; {
			case !is:
				b = w.Text(b, string(f.Name()))
			case !said:
				unclear[of.Name()] = true
				b = w.Refuse(b, "has a member that "+anotherType)
			}
		}
		member(f.Name())
		if bad {
			b = w.Refuse(b, anotherType)
		} else if b, err = w.appendField(b, f, m.Get(wide)); err != nil {
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
	list := v.List()
	if f.IsMap() {
		return w.appendMap(b, f, list)
	}
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

// entry is a member of a map: its name, and the message with its value.
type entry struct {
	name string
	of   protoreflect.Message
}

// appendMap writes a map in the order of its names. The whole text may be a key, or content that
// duplicates share, and must be the same for the same message. Of entries with one name, the last
// one counts, as protobuf has it.
func (w *writer) appendMap(b []byte, f protoreflect.FieldDescriptor, list protoreflect.List) (_ []byte, err error) {
	all := make([]entry, 0, list.Len())
	var flaws []string // of names, each one once
	for i := range list.Len() {
		of := list.Get(i).Message()
		name, flaw := nameOf(f, of)
		switch {
		case flaw == "":
			all = append(all, entry{name, of})
		case !slices.Contains(flaws, flaw):
			flaws = append(flaws, flaw)
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	slices.Sort(flaws)
	b = append(b, '{')
	start := len(b)
	comma := func() {
		if len(b) > start {
			b = append(b, ',')
		}
	}
	for _, flaw := range flaws {
		comma()
		b = append(w.Refuse(b, "holds a name that "+flaw), ":0"...)
	}
	for i, e := range all {
		if i+1 < len(all) && all[i+1].name == e.name {
			continue
		}
		comma()
		b = append(w.Name(b, e.name), ':')
		wide := e.of.Descriptor().Fields().ByNumber(2)
		value := e.of.Get(wide)
		if f.MapValue().Enum() != nil && !e.of.Has(wide) {
			value = protoreflect.ValueOfInt64(int64(f.MapValue().Default().Enum()))
		}
		if mistyped(e.of)[wide.Number()] {
			b = w.Refuse(b, anotherType)
		} else if b, err = w.appendValue(b, f.MapValue(), value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// nameOf returns the name of an entry of a map, or why it cannot be read.
func nameOf(f protoreflect.FieldDescriptor, of protoreflect.Message) (name, flaw string) {
	wide := of.Descriptor().Fields().ByNumber(1)
	if mistyped(of)[wide.Number()] {
		return "", anotherType
	}
	key := of.Get(wide)
	if why := misfit(f.MapKey(), key); why != "" {
		return "", why
	}
	if f.MapKey().Kind() == protoreflect.BoolKind {
		return strconv.FormatBool(key.Uint() == 1), ""
	}
	return key.String(), ""
}

func (w *writer) appendValue(b []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	if err := w.Check(b); err != nil {
		return nil, err
	}
	if why := misfit(f, v); why != "" {
		return w.Refuse(b, why), nil
	}
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return w.appendMessage(b, f.Message(), v.Message())
	case protoreflect.StringKind:
		return w.Text(b, v.String()), nil
	case protoreflect.BytesKind:
		return asjson.Bytes(b, v.Bytes()), nil
	case protoreflect.BoolKind:
		return strconv.AppendBool(b, v.Uint() == 1), nil
	case protoreflect.EnumKind:
		if known := f.Enum().Values().ByNumber(protoreflect.EnumNumber(v.Int())); known != nil {
			return w.Text(b, string(known.Name())), nil
		}
		w.Note(b, fmt.Sprintf("is enum number %d, which has no name in %s", v.Int(), f.Enum().FullName()))
		return strconv.AppendInt(b, v.Int(), 10), nil
	case protoreflect.FloatKind:
		return w.Float(b, v.Float(), 32), nil
	case protoreflect.DoubleKind:
		return w.Float(b, v.Float(), 64), nil
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	}
	return strconv.AppendInt(b, v.Int(), 10), nil
}
