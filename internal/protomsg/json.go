package protomsg

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// wellKnown reports whether a message has a form of its own in JSON.
func wellKnown(m protoreflect.MessageDescriptor) bool {
	return m.FullName().Parent() == "google.protobuf" && m.Name() != "Empty"
}

// writer writes a message as JSON.
type writer struct {
	most    int            // how many bytes it may become; 0 is any number
	start   int            // of its JSON
	unnamed map[int]string // by their places in its JSON: numbers in place of an enum's name
}

// check is an error once the message is longer than it may be.
func (w *writer) check(b []byte) error {
	if w.most > 0 && len(b) > w.most {
		return fmt.Errorf("it becomes more than %d bytes of JSON (limits.max_payload)", w.most)
	}
	return nil
}

// appendMessage writes a message as JSON, field by field in the order of the file.
func (w *writer) appendMessage(b []byte, m protoreflect.Message) ([]byte, error) {
	if wellKnown(m.Descriptor()) {
		text, err := protojson.Marshal(m.Interface())
		if err != nil {
			return nil, err
		}
		var short bytes.Buffer // protojson puts spaces at random
		err = json.Compact(&short, text)
		return append(b, short.Bytes()...), err
	}
	b = append(b, '{')
	start := len(b)
	member := func(name protoreflect.Name) {
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), `":`...)
	}
	var err error
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.HasPresence() && !m.Has(f) {
			continue
		}
		if of := f.ContainingOneof(); of != nil && !of.IsSynthetic() {
			member(of.Name())
			b = appendText(b, string(f.Name()))
		}
		member(f.Name())
		if b, err = w.appendField(b, f, m.Get(f)); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (w *writer) appendField(b []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) (_ []byte, err error) {
	switch {
	case f.IsList():
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
	case f.IsMap():
		return w.appendMap(b, f, v.Map())
	}
	return w.appendValue(b, f, v)
}

// appendMap writes a map, in any order: the decoder sorts it.
func (w *writer) appendMap(b []byte, f protoreflect.FieldDescriptor, of protoreflect.Map) (_ []byte, err error) {
	b = append(b, '{')
	start := len(b)
	of.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(appendText(b, k.String()), ':')
		b, err = w.appendValue(b, f.MapValue(), v)
		return err == nil
	})
	return append(b, '}'), err
}

func (w *writer) appendValue(b []byte, f protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	if err := w.check(b); err != nil {
		return nil, err
	}
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return w.appendMessage(b, v.Message())
	case protoreflect.StringKind:
		return appendText(b, v.String()), nil
	case protoreflect.BytesKind:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, v.Bytes())
		return append(b, '"'), nil
	case protoreflect.BoolKind:
		return strconv.AppendBool(b, v.Bool()), nil
	case protoreflect.EnumKind:
		if known := f.Enum().Values().ByNumber(v.Enum()); known != nil {
			return appendText(b, string(known.Name())), nil
		}
		if w.unnamed == nil {
			w.unnamed = map[int]string{}
		}
		w.unnamed[len(b)-w.start] = fmt.Sprintf("is enum number %d, which has no name in %s", v.Enum(), f.Enum().FullName())
		return strconv.AppendInt(b, int64(v.Enum()), 10), nil
	case protoreflect.FloatKind:
		return appendFloat(b, v.Float(), 32), nil
	case protoreflect.DoubleKind:
		return appendFloat(b, v.Float(), 64), nil
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	}
	return strconv.AppendInt(b, v.Int(), 10), nil
}

// appendFloat writes what is no number as a text, which no field reads.
func appendFloat(b []byte, v float64, bits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendQuote(b, strconv.FormatFloat(v, 'g', -1, bits))
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

func appendText(b []byte, text string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a buffer takes every text
	return append(b, strings.TrimSuffix(out.String(), "\n")...)
}
