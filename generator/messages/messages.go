// Package messages reads the .proto files that a spec names: what its records are packed in, and
// the fields that events take from there.
//
// It comes before and after package resolve. It must not import gocode, sqlcode or the runtime.
package messages

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/protofile"
	"github.com/idemgen/idemgen/internal/protomsg"
	"github.com/idemgen/idemgen/schema"
)

// All are the messages of a spec's topics.
type All struct {
	spec     *schema.Spec
	topics   map[string]*read
	problems schema.Diagnostics
}

// read is the message type of one topic.
type read struct {
	set []byte
	is  *protomsg.Type
}

// Read reads the files of a spec; read reads one, by its path from the spec. Events that declare
// no fields get those of their message.
func Read(spec *schema.Spec, file func(path string) ([]byte, error)) (*All, schema.Diagnostics) {
	a := &All{spec: spec, topics: map[string]*read{}}
	for _, t := range spec.Topics {
		p := t.Payload
		if p == nil || p.Broken || !p.OfMessages() || p.Schema == nil {
			continue
		}
		is, err := load(file, p)
		if err != nil {
			a.problems.Add(p.Schema.Pos, "E117", "the messages of topic "+t.Name.Value+" cannot be read: "+err.Error(), "paths of files, in imports too, are relative to this spec")
			continue
		}
		a.topics[t.Name.Value] = is
		a.fill(t, is.is.Message)
	}
	return a, a.problems
}

func load(file func(path string) ([]byte, error), p *schema.Payload) (*read, error) {
	path, message, _ := strings.Cut(p.Schema.Value, "#")
	set, err := protofile.Compile(func(name string) ([]byte, error) {
		data, err := file(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("no such file")
		}
		return data, err
	}, path)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	is, err := protomsg.New(set, message, p.Encoding.Value == "confluent_protobuf")
	if err != nil {
		return nil, fmt.Errorf("%s has no message %s", path, message)
	}
	return &read{set, is}, nil
}

// Attach gives the topics of a model what was read, and compares their fields with it.
func (a *All) Attach(s *model.Service) (problems schema.Diagnostics) {
	for i, t := range s.Topics {
		is := a.topics[t.Name]
		if is == nil {
			continue
		}
		t.Payload.Messages.Schema, t.Payload.Messages.Packing = is.set, is.is
		for _, e := range t.Events {
			for _, f := range e.Fields {
				if f.Source.Kind != model.FromPayload {
					continue
				}
				if why := misfit(is.is.Message, f.Source.Path, f.Type); why != "" {
					problems.Add(placeOf(a.spec.Topics[i], e.Name, f.Name), "E118", fmt.Sprintf("field %q of event %s: %s", f.Name, e.Name, why), "the fields of a message are in its .proto file; its members have the same names in a path")
				}
			}
		}
	}
	return problems
}

// placeOf is where the spec declares a field; that of the schema if it does not.
func placeOf(t *schema.Topic, event, field string) schema.Pos {
	for _, e := range t.Events {
		if e.Name.Value != event {
			continue
		}
		for _, f := range append(append([]*schema.Field{}, e.Fields...), t.Fields...) {
			if f.Name.Value == field {
				return f.Name.Pos
			}
		}
		if e.FieldsType != nil {
			return e.FieldsType.Pos
		}
	}
	return t.Payload.Schema.Pos
}

// misfit says why a field cannot be read from a place of a message; "" if it can.
func misfit(m protoreflect.MessageDescriptor, path []string, t model.FieldType) string {
	for i, name := range path {
		f := m.Fields().ByName(protoreflect.Name(name))
		if of := m.Oneofs().ByName(protoreflect.Name(name)); f == nil && of != nil && !of.IsSynthetic() && i == len(path)-1 {
			return unlike(t, "the name of a member", model.String, model.Enum)
		}
		switch {
		case f == nil:
			return fmt.Sprintf("message %s has no field %s", m.FullName(), name)
		case i == len(path)-1:
			return wrong(f, t)
		case f.Message() == nil || f.IsList() || f.IsMap():
			return fmt.Sprintf("field %s of message %s has no fields", name, m.FullName())
		}
		m = f.Message()
	}
	return unlike(t, "the whole message", model.JSON, model.Object)
}

// wrong says why a field of a message cannot have a type of a spec.
func wrong(f protoreflect.FieldDescriptor, t model.FieldType) string {
	is := string(f.Name()) + " is " + kindOf(f)
	switch {
	case t.Kind == model.JSON:
		return ""
	case f.IsMap():
		if t.Kind == model.Map {
			return wrong(f.MapValue(), *t.Elem)
		}
		return unlike(t, is, model.Map)
	case f.IsList() && t.Kind == model.List:
		return single(f, *t.Elem)
	case f.IsList() != (t.Kind == model.List):
		return unlike(t, is, model.List)
	}
	return single(f, t)
}

// single is wrong for one value.
func single(f protoreflect.FieldDescriptor, t model.FieldType) string {
	is := string(f.Name()) + " is " + kindOf(f)
	texts := []model.Kind{model.String, model.UUID, model.Decimal, model.Enum, model.Timestamp, model.LocalTimestamp, model.Date, model.Bytes, model.Int32, model.Int64}
	switch f.Kind() {
	case protoreflect.StringKind:
		return unlike(t, is, texts...)
	case protoreflect.EnumKind:
		return unlike(t, is, model.Enum)
	case protoreflect.BytesKind:
		return unlike(t, is, model.Bytes)
	case protoreflect.BoolKind:
		return unlike(t, is, model.Bool)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return unlike(t, is, model.Float64, model.Decimal)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return unlike(t, is, model.Int32, model.Int64, model.Decimal, model.Timestamp, model.Date)
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return message(f.Message(), t, is)
	}
	return unlike(t, is, model.Int64, model.Decimal, model.Timestamp, model.Date)
}

func message(m protoreflect.MessageDescriptor, t model.FieldType, is string) string {
	switch {
	case m.FullName() == "google.protobuf.Timestamp":
		return unlike(t, is, model.Timestamp, model.String)
	case strings.HasPrefix(string(m.FullName()), "google.protobuf."): // in forms of their own
		return ""
	case t.Kind != model.Object:
		return unlike(t, is, model.Object)
	}
	for _, f := range t.Named.Fields {
		if why := misfit(m, f.Source.Path, f.Type); why != "" {
			return why
		}
	}
	return ""
}

var kinds = map[model.Kind]string{
	model.String: "string", model.UUID: "uuid", model.Bool: "bool", model.Int32: "int32", model.Int64: "int64", model.Float64: "float64",
	model.Decimal: "decimal", model.Timestamp: "timestamp", model.Date: "date", model.Bytes: "bytes", model.JSON: "json",
	model.Enum: "an enum", model.Object: "an object", model.List: "a list", model.Map: "a map", model.LocalTimestamp: "local_timestamp",
}

// unlike says that a type is none of those that read something.
func unlike(t model.FieldType, is string, like ...model.Kind) string {
	for _, kind := range like {
		if t.Kind == kind {
			return ""
		}
	}
	return fmt.Sprintf("%s, which is read by %s, and not by %s", is, kinds[like[0]], kinds[t.Kind])
}

// kindOf is a field's type as its file has it.
func kindOf(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return "a map"
	case f.IsList():
		return "repeated"
	case f.Message() != nil:
		return string(f.Message().FullName())
	case f.Enum() != nil:
		return string(f.Enum().FullName())
	}
	return f.Kind().String()
}
