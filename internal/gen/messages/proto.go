package messages

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/protofile"
	"github.com/idemgen/idemgen/internal/protomsg"
)

const noMessage = " has no message "

// readProto reads a message of a .proto file.
func readProto(file readFile, path, message string, framed bool) (*read, error) {
	set, err := protofile.Compile(file, path)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	is, err := protomsg.New(set, message, framed)
	if err != nil {
		return nil, fmt.Errorf("%s%s%s", path, noMessage, message)
	}
	layout := protoLayout(is.Message)
	if framed { // each record says which message of its file it is
		layout[""] = is.Place()
	}
	return &read{schema: set, packing: is, shape: protoShapes{}.message(is.Message), layout: layout}, nil
}

// protoShapes are messages by their full names: one may hold itself.
type protoShapes map[protoreflect.FullName]*shape

func (all protoShapes) message(m protoreflect.MessageDescriptor) *shape {
	full := m.FullName()
	s := &shape{says: "message " + string(full), name: string(m.Name())}
	switch {
	case all[full] != nil:
		return all[full]
	case full == "google.protobuf.Timestamp":
		s.kinds = []model.Kind{model.Timestamp, model.String}
		return s
	case full.Parent() == "google.protobuf":
		return s
	}
	s.kinds = []model.Kind{model.Object}
	all[full] = s
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		s.members = append(s.members, member{name: string(f.Name()), optional: f.HasPresence(), is: all.field(f)})
	}
	for i := range m.Oneofs().Len() {
		if of := m.Oneofs().Get(i); !of.IsSynthetic() {
			s.members = append(s.members, member{name: string(of.Name()), told: true, is: &shape{says: "the name of a member", kinds: []model.Kind{model.String, model.Enum}, symbols: memberNames(of)}})
		}
	}
	return s
}

// memberNames are those of a oneof.
func memberNames(of protoreflect.OneofDescriptor) (names []string) {
	for i := range of.Fields().Len() {
		names = append(names, string(of.Fields().Get(i).Name()))
	}
	return names
}

func (all protoShapes) field(f protoreflect.FieldDescriptor) *shape {
	switch {
	case f.IsMap():
		return &shape{says: "a map", kinds: []model.Kind{model.Map}, elem: all.single(f.MapValue())}
	case f.IsList():
		return &shape{says: "repeated", kinds: []model.Kind{model.List}, elem: all.single(f)}
	}
	return all.single(f)
}

func (all protoShapes) single(f protoreflect.FieldDescriptor) *shape {
	s := &shape{says: f.Kind().String()}
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return all.message(f.Message())
	case protoreflect.EnumKind:
		s.says, s.name, s.kinds = string(f.Enum().FullName()), string(f.Enum().Name()), []model.Kind{model.Enum}
		for i := range f.Enum().Values().Len() {
			s.symbols = append(s.symbols, string(f.Enum().Values().Get(i).Name()))
		}
	case protoreflect.StringKind:
		s.kinds = texts
	case protoreflect.BytesKind:
		s.kinds = []model.Kind{model.Bytes}
	case protoreflect.BoolKind:
		s.kinds = []model.Kind{model.Bool}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		s.kinds = []model.Kind{model.Float64, model.Decimal}
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		s.kinds, s.number = []model.Kind{model.Int32, model.Int64, model.Decimal, model.Timestamp, model.Date}, true
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		s.kinds, s.number = []model.Kind{model.Decimal, model.Int64, model.Timestamp, model.Date}, true
	default:
		s.kinds, s.number = []model.Kind{model.Int64, model.Decimal, model.Timestamp, model.Date}, true
	}
	return s
}
