package protomsg

import (
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// narrow is the kind of a field that has 32 bits in the schema, by its name.
type narrow map[protoreflect.FullName]descriptorpb.FieldDescriptorProto_Type

// widths are the kinds of 32 bits whose values look like those of 64 on the wire. A producer may
// have widened a field, which protobuf calls compatible; the library would cut its values, so two
// keys could become one.
var widths = map[descriptorpb.FieldDescriptorProto_Type]descriptorpb.FieldDescriptorProto_Type{
	descriptorpb.FieldDescriptorProto_TYPE_INT32:  descriptorpb.FieldDescriptorProto_TYPE_INT64,
	descriptorpb.FieldDescriptorProto_TYPE_UINT32: descriptorpb.FieldDescriptorProto_TYPE_UINT64,
	descriptorpb.FieldDescriptorProto_TYPE_SINT32: descriptorpb.FieldDescriptorProto_TYPE_SINT64,
}

// widen returns files whose fields of 32 bits have 64, except the well-known types.
func widen(files *descriptorpb.FileDescriptorSet) (*descriptorpb.FileDescriptorSet, narrow) {
	wide, was := proto.CloneOf(files), narrow{}
	var all func(scope protoreflect.FullName, messages []*descriptorpb.DescriptorProto)
	all = func(scope protoreflect.FullName, messages []*descriptorpb.DescriptorProto) {
		for _, m := range messages {
			name := scope.Append(protoreflect.Name(m.GetName()))
			for _, f := range m.Field {
				if to, is := widths[f.GetType()]; is {
					was[name.Append(protoreflect.Name(f.GetName()))] = f.GetType()
					f.Type = to.Enum()
				}
			}
			all(name, m.NestedType)
		}
	}
	for _, f := range wide.File {
		if f.GetPackage() != "google.protobuf" {
			all(protoreflect.FullName(f.GetPackage()), f.MessageType)
		}
	}
	return wide, was
}

const tooWide = "has more than the 32 bits that the schema gives it"

// holds reports whether a value fits the field as the schema has it.
func (n narrow) holds(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	switch of, is := n[f.FullName()]; {
	case !is:
		return true
	case of == descriptorpb.FieldDescriptorProto_TYPE_UINT32:
		return v.Uint() <= math.MaxUint32
	}
	return v.Int() >= math.MinInt32 && v.Int() <= math.MaxInt32
}
