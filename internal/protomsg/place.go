package protomsg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// errPlace is the error for a frame without a place, or with more than one.
var errPlace = errors.New("the message indexes after the schema id are malformed")

// placeOf is where a message is in its file: its number at each level, the outermost one first.
func placeOf(m protoreflect.MessageDescriptor) (path []int64) {
	for d := protoreflect.Descriptor(m); ; d = d.Parent() {
		if _, file := d.(protoreflect.FileDescriptor); file {
			slices.Reverse(path)
			return path
		}
		path = append(path, int64(d.Index()))
	}
}

// Place is where the message is in its file, as a text.
func (t *Type) Place() string { return fmt.Sprint(placeOf(t.Message)) }

// appendPlace appends a place as Confluent's serializers write it: how deep it is, and the number
// at each level, as zigzag varints; one zero byte for the first message of the file.
func appendPlace(b []byte, path []int64) []byte {
	if len(path) == 1 && path[0] == 0 {
		return append(b, 0)
	}
	b = binary.AppendVarint(b, int64(len(path)))
	for _, n := range path {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// cutPlace reads what appendPlace writes. The place of the first message may be written in full.
func cutPlace(b []byte) (path []int64, rest []byte, err error) {
	levels, n := binary.Varint(b)
	if n <= 0 || levels < 0 || levels > int64(len(b)) {
		return nil, nil, errPlace
	}
	b = b[n:]
	if levels == 0 {
		return []int64{0}, b, nil
	}
	for range levels {
		index, n := binary.Varint(b)
		if n <= 0 || index < 0 {
			return nil, nil, errPlace
		}
		path, b = append(path, index), b[n:]
	}
	return path, b, nil
}

// behindPlace returns what follows the place of the message. Another place is an error.
func (t *Type) behindPlace(b []byte) ([]byte, error) {
	path, rest, err := cutPlace(b)
	if err == nil && !slices.Equal(path, t.place) {
		err = fmt.Errorf("it is another message of the file, not %s", t.Message.FullName())
	}
	return rest, err
}
