// Package protomsg opens protobuf messages as JSON, as decoders of a spec read it, and packs JSON
// into messages, as tests send them. It must not import any package of this module but
// asjson and frame.
//
// Members have the names of the fields in the .proto file. A field without presence is always
// there; an optional one, a message, and a member of a oneof only if they are set. Beside the
// members of a oneof stands one of its own name, with the name of the member that is set. 64-bit
// integers are numbers, enums texts, bytes base64, and the well-known types are as in the JSON
// mapping of protobuf (https://protobuf.dev/programming-guides/json/).
package protomsg

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idemgen/idemgen/internal/asjson"
	"github.com/idemgen/idemgen/internal/frame"
)

// Type is the type of a topic's messages. Any goroutine may use it.
type Type struct {
	Message protoreflect.MessageDescriptor
	types   *dynamicpb.Types
	read    protoreflect.MessageDescriptor // Message as it is decoded (see widen), and the types of its files
	wide    *dynamicpb.Types
	framed  bool
	place   []int64 // of the message in its file
}

// New returns the type of a message in a FileDescriptorSet, which has the files that it needs in
// any order. Framed messages are behind what the serializers of Confluent's registry write: a zero
// byte, the number of the schema, and the place of the message in its file.
func New(set []byte, message string, framed bool) (*Type, error) {
	var files descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(set, &files); err != nil {
		return nil, err
	}
	addWellKnown(&files)
	registry, err := protodesc.NewFiles(&files)
	if err != nil {
		return nil, err
	}
	is, err := find(registry, message)
	if err != nil {
		return nil, err
	}
	wide, err := protodesc.NewFiles(widen(&files))
	if err != nil {
		return nil, err
	}
	read, err := find(wide, message)
	if err != nil {
		return nil, err
	}
	return &Type{Message: is, types: dynamicpb.NewTypes(registry), read: read, wide: dynamicpb.NewTypes(wide), framed: framed, place: placeOf(is)}, nil
}

func find(in *protoregistry.Files, message string) (protoreflect.MessageDescriptor, error) {
	found, err := in.FindDescriptorByName(protoreflect.FullName(message))
	if err != nil {
		return nil, fmt.Errorf("there is no message %s: %w", message, err)
	}
	is, ok := found.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is not a message", message)
	}
	return is, nil
}

// Open returns a message as JSON, appended to into. A message with bytes that are none of its
// fields is opened without them, as protobuf has it.
func (t *Type) Open(into, value []byte) ([]byte, error) {
	out, _, err := t.OpenWithin(into, value, 0)
	return out, err
}

// Why says of values in the JSON of a message, by their positions, why a field cannot read them.
func (t *Type) Why(value []byte) map[int]string {
	_, why, _ := t.OpenWithin(nil, value, 0)
	return why
}

// OpenWithin is Open for a message that may become so many bytes of JSON; 0 is any number. It also
// returns what [Type.Why] does.
func (t *Type) OpenWithin(into, value []byte, most int) (out []byte, why map[int]string, err error) {
	if t.framed {
		_, rest, err := frame.Split(value)
		if err != nil {
			return nil, nil, err
		}
		if value, err = t.behindPlace(rest); err != nil {
			return nil, nil, err
		}
	}
	return t.open(into, value, most)
}

// OpenBeside is [Type.OpenWithin] for a value whose frame is in a record header, which ends with
// the place of the message.
func (t *Type) OpenBeside(place, into, value []byte, most int) (out []byte, why map[int]string, err error) {
	rest, err := t.behindPlace(place)
	if err == nil && len(rest) > 0 {
		err = errPlace
	}
	if err != nil {
		return nil, nil, err
	}
	return t.open(into, value, most)
}

// open opens a value without a frame.
func (t *Type) open(into, value []byte, most int) (out []byte, why map[int]string, err error) {
	m := dynamicpb.NewMessage(t.read)
	if err := decoding.Unmarshal(value, m); err != nil { // whose text is not the same each time
		return nil, nil, fmt.Errorf("it is not a valid message %s", t.Message.FullName())
	}
	w := &writer{Writer: asjson.Writer{Most: most, Start: len(into)}, types: t.types, wide: t.wide}
	if out, err = w.appendMessage(into, t.Message, m); err == nil {
		err = w.Check(out)
	}
	if err != nil {
		return nil, nil, err
	}
	return out, w.Why, nil
}
