// Package protomsg opens protobuf messages as JSON, as decoders of a spec read it, and packs JSON
// into messages, as tests send them. It must not import any package of this module but frame.
//
// Members have the names of the fields in the .proto file. A field without presence is always
// there; an optional one, a message, and a member of a oneof only if they are set. Beside the
// members of a oneof stands one of its own name, with the name of the member that is set. 64-bit
// integers are numbers, enums texts, bytes base64, and the well-known types are as in the JSON
// mapping of protobuf (https://protobuf.dev/programming-guides/json/).
package protomsg

import (
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/idemgen/idemgen/internal/frame"
)

// Type is the type of a topic's messages. Any goroutine may use it.
type Type struct {
	Message protoreflect.MessageDescriptor
	framed  bool
	index   []byte // of the message in its file, as it stands in a frame
}

// New returns the type of a message in a FileDescriptorSet, which has the files that it needs in
// any order. Framed messages are behind what the serializers of Confluent's registry write: a zero
// byte, the number of the schema, and the place of the message in its file.
func New(set []byte, message string, framed bool) (*Type, error) {
	var files descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(set, &files); err != nil {
		return nil, err
	}
	registry, err := protodesc.NewFiles(&files)
	if err != nil {
		return nil, err
	}
	found, err := registry.FindDescriptorByName(protoreflect.FullName(message))
	if err != nil {
		return nil, fmt.Errorf("there is no message %s: %w", message, err)
	}
	is, ok := found.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is no message", message)
	}
	return &Type{Message: is, framed: framed, index: place(is)}, nil
}

// place is where a message is in its file: how deep, and the number at each level, as zigzag
// varints; one zero byte for the first message of the file.
func place(m protoreflect.MessageDescriptor) []byte {
	var path []int64
	for d := protoreflect.Descriptor(m); ; d = d.Parent() {
		if _, file := d.(protoreflect.FileDescriptor); file {
			break
		}
		path = append(path, int64(d.Index()))
	}
	if len(path) == 1 && path[0] == 0 {
		return []byte{0}
	}
	slices.Reverse(path)
	out := binary.AppendVarint(nil, int64(len(path)))
	for _, n := range path {
		out = binary.AppendVarint(out, n)
	}
	return out
}

// Open returns a message as JSON, appended to into. A message with bytes that are none of its
// fields is opened without them, as protobuf has it.
func (t *Type) Open(into, value []byte) ([]byte, error) {
	out, _, err := t.OpenWithin(into, value, 0)
	return out, err
}

// Unnamed says of each number in the JSON of a message that stands there in place of an enum's
// name, by its place, why no enum reads it.
func (t *Type) Unnamed(value []byte) map[int]string {
	_, unnamed, _ := t.OpenWithin(nil, value, 0)
	return unnamed
}

// OpenWithin is Open for a message that may become so many bytes of JSON; 0 is any number. It also
// returns what [Type.Unnamed] does.
func (t *Type) OpenWithin(into, value []byte, most int) (out []byte, unnamed map[int]string, err error) {
	if t.framed {
		_, rest, err := frame.Split(value)
		if err != nil {
			return nil, nil, err
		}
		if value, err = t.isAt(rest); err != nil {
			return nil, nil, err
		}
	}
	return t.open(into, value, most)
}

// OpenBeside is [Type.OpenWithin] for a value whose frame is in a record header, which ends with
// the place of the message.
func (t *Type) OpenBeside(place, into, value []byte, most int) (out []byte, unnamed map[int]string, err error) {
	if rest, err := t.isAt(place); err != nil || len(rest) > 0 {
		return nil, nil, t.otherMessage()
	}
	return t.open(into, value, most)
}

// isAt returns what follows the place of the message, or an error if another place is there.
func (t *Type) isAt(rest []byte) ([]byte, error) {
	if !slices.Equal(rest[:min(len(t.index), len(rest))], t.index) {
		return nil, t.otherMessage()
	}
	return rest[len(t.index):], nil
}

func (t *Type) otherMessage() error {
	return fmt.Errorf("it is another message of the file than %s", t.Message.FullName())
}

// open opens a value without a frame.
func (t *Type) open(into, value []byte, most int) (out []byte, unnamed map[int]string, err error) {
	m := dynamicpb.NewMessage(t.Message)
	if err := proto.Unmarshal(value, m); err != nil { // whose text is not the same each time
		return nil, nil, fmt.Errorf("it is no message %s", t.Message.FullName())
	}
	w := &writer{most: most, start: len(into)}
	if out, err = w.appendMessage(into, m); err == nil {
		err = w.check(out)
	}
	return out, w.unnamed, err
}
