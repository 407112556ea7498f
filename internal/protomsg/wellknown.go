package protomsg

import (
	"slices"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// addWellKnown adds the well-known types that the files of a schema do not have: a
// google.protobuf.Any may hold them. Whatever else a program links plays no part.
func addWellKnown(files *descriptorpb.FileDescriptorSet) {
	for _, f := range []protoreflect.FileDescriptor{
		anypb.File_google_protobuf_any_proto, durationpb.File_google_protobuf_duration_proto, emptypb.File_google_protobuf_empty_proto,
		fieldmaskpb.File_google_protobuf_field_mask_proto, structpb.File_google_protobuf_struct_proto,
		timestamppb.File_google_protobuf_timestamp_proto, wrapperspb.File_google_protobuf_wrappers_proto,
	} {
		if !slices.ContainsFunc(files.File, func(of *descriptorpb.FileDescriptorProto) bool { return of.GetName() == f.Path() || declares(of, f) }) {
			files.File = append(files.File, protodesc.ToFileDescriptorProto(f))
		}
	}
}

// declares reports whether a file, whatever its path, has messages of a well-known one.
func declares(file *descriptorpb.FileDescriptorProto, known protoreflect.FileDescriptor) bool {
	return file.GetPackage() == string(known.Package()) && slices.ContainsFunc(file.MessageType, func(m *descriptorpb.DescriptorProto) bool {
		return known.Messages().ByName(protoreflect.Name(m.GetName())) != nil
	})
}
