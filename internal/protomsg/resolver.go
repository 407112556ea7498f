package protomsg

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	// The well-known types, which a google.protobuf.Any may hold whatever files the schema has.
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
)

// resolver finds the type of a google.protobuf.Any in the files of the schema, and the well-known
// types everywhere. What else a program links plays no part.
type resolver struct{ *dynamicpb.Types }

// FindMessageByURL is part of what protojson asks.
func (r resolver) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	found, err := r.Types.FindMessageByURL(url)
	if err != nil {
		if known, unknown := protoregistry.GlobalTypes.FindMessageByURL(url); unknown == nil && known.Descriptor().FullName().Parent() == "google.protobuf" {
			return known, nil
		}
	}
	return found, err
}
