package protomsg

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Messages are decoded with wide types, which keep all that is on the wire, and are then compared
// with the types of the schema. The library alone would cut a number to the bits of its field, and
// read a field of another wire type as its default: two keys could become one.

// widths are the types of fewer than 64 bits whose values look like those of 64 on the wire. A
// producer may have widened a field, which protobuf calls compatible.
var widths = map[descriptorpb.FieldDescriptorProto_Type]descriptorpb.FieldDescriptorProto_Type{
	descriptorpb.FieldDescriptorProto_TYPE_INT32:  descriptorpb.FieldDescriptorProto_TYPE_INT64,
	descriptorpb.FieldDescriptorProto_TYPE_UINT32: descriptorpb.FieldDescriptorProto_TYPE_UINT64,
	descriptorpb.FieldDescriptorProto_TYPE_SINT32: descriptorpb.FieldDescriptorProto_TYPE_SINT64,
	descriptorpb.FieldDescriptorProto_TYPE_ENUM:   descriptorpb.FieldDescriptorProto_TYPE_INT64,
	descriptorpb.FieldDescriptorProto_TYPE_BOOL:   descriptorpb.FieldDescriptorProto_TYPE_UINT64,
}

// widen returns files whose fields of fewer bits have 64, and whose maps are lists of entries: of
// an entry in a map, the library drops what has another wire type.
func widen(files *descriptorpb.FileDescriptorSet) *descriptorpb.FileDescriptorSet {
	wide := proto.CloneOf(files)
	for _, f := range wide.File {
		widenAll(f.MessageType)
	}
	return wide
}

func widenAll(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		maps := map[string]bool{} // names of entries
		for _, n := range m.NestedType {
			maps[n.GetName()] = n.GetOptions().GetMapEntry()
		}
		entry := m.GetOptions().GetMapEntry()
		if entry {
			m.Options.MapEntry = nil
		}
		for _, f := range m.Field {
			if to, is := widths[f.GetType()]; is {
				f.Type, f.TypeName, f.DefaultValue = to.Enum(), nil, nil
			}
			if name := f.GetTypeName(); entry || maps[name[strings.LastIndex(name, ".")+1:]] {
				prefixed := &descriptorpb.FeatureSet{MessageEncoding: descriptorpb.FeatureSet_LENGTH_PREFIXED.Enum()}
				if f.Options == nil {
					f.Options = &descriptorpb.FieldOptions{}
				}
				proto.Merge(f.Options, &descriptorpb.FieldOptions{Features: prefixed}) // as maps are, whatever the file says
			}
		}
		widenAll(m.NestedType)
	}
}

const (
	tooWide     = "has more than the 32 bits that the schema gives it"
	noBool      = "is a boolean that is neither 0 nor 1"
	anotherType = "has another wire type than the schema gives it"
)

// misfit says why the schema's field cannot hold a value that is no message; "" if it can.
func misfit(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch f.Kind() {
	case protoreflect.BoolKind:
		if v.Uint() > 1 {
			return noBool
		}
	case protoreflect.Uint32Kind:
		if v.Uint() > math.MaxUint32 {
			return tooWide
		}
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.EnumKind:
		if n := v.Int(); n < math.MinInt32 || n > math.MaxInt32 {
			return tooWide
		}
	}
	return ""
}

// mistyped returns the fields that the schema has and whose wire type is another one. The library
// takes them for unknown fields.
func mistyped(m protoreflect.Message) (fields map[protoreflect.FieldNumber]bool) {
	for rest := m.GetUnknown(); len(rest) > 0; {
		n, _, size := protowire.ConsumeField(rest)
		if size < 0 { // cannot be: the library has read it
			break
		}
		rest = rest[size:]
		if m.Descriptor().Fields().ByNumber(n) != nil {
			if fields == nil {
				fields = map[protoreflect.FieldNumber]bool{}
			}
			fields[n] = true
		}
	}
	return fields
}

// flaw says why a message that is of a type of the schema cannot be read as a whole; "" if it can.
func flaw(is protoreflect.MessageDescriptor, m protoreflect.Message) (why string) {
	if len(mistyped(m)) > 0 {
		return "holds a value that " + anotherType
	}
	m.Range(func(wide protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		f := is.Fields().ByNumber(wide.Number())
		one := func(v protoreflect.Value) string {
			if wide.Message() != nil {
				return flaw(f.Message(), v.Message())
			}
			if why := misfit(f, v); why != "" {
				return "holds a value that " + why
			}
			return ""
		}
		if !wide.IsList() {
			why = one(v)
			return why == ""
		}
		for i := 0; i < v.List().Len() && why == ""; i++ {
			why = one(v.List().Get(i))
		}
		return why == ""
	})
	return why
}

// decoding is how messages are decoded: a required field that is missing is left out, as any other
// one, and extensions that this program happens to link are unknown fields.
var decoding = proto.UnmarshalOptions{AllowPartial: true, Resolver: new(protoregistry.Types)}
