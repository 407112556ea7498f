// Package protobuf unpacks record values that are protobuf messages. Generated code uses it for
// topics with encoding protobuf. It converts a message to JSON with the names of the .proto file,
// and the decoder of the event reads that (docs/spec.md, Packed values).
//
// It must not import any package of this module but frame, protomsg and wire.
package protobuf

import (
	"encoding/base64"
	"fmt"

	"github.com/idemgen/idemgen/internal/frame"
	"github.com/idemgen/idemgen/internal/protomsg"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Message is the protobuf type of a topic's values. It is safe for concurrent use.
type Message struct {
	is     *protomsg.Type
	framed bool
}

// New returns the type of a message. The schema is a FileDescriptorSet in base64. If framed is
// true, values begin with the prefix that serializers of Confluent's registry write. New panics if
// the schema is invalid or lacks the message, which only wrongly generated code can cause.
func New(schema, message string, framed bool) *Message {
	set, err := base64.StdEncoding.DecodeString(schema)
	if err != nil {
		panic(fmt.Sprintf("idem: the schema of %s: %v", message, err))
	}
	is, err := protomsg.New(set, message, framed)
	if err != nil {
		panic(fmt.Sprintf("idem: the schema of %s: %v", message, err))
	}
	return &Message{is, framed}
}

// Encoding unpacks values that are messages. It is not safe for concurrent use.
type Encoding struct {
	Message *Message
	Most    int // limit of a message's size as JSON, in bytes: limits.max_payload; 0 means no limit
	memory  []byte
}

// Open returns m with its value converted to JSON, valid until the next Open. A record without a
// value is returned unchanged. If the value cannot be decoded, Open returns a [*wire.DecodeError].
func (e *Encoding) Open(m *wire.Message) (*wire.Message, error) {
	if m.Value == nil {
		return m, nil
	}
	text, unnamed, err := e.Message.open(e.memory[:0], m, e.Most)
	if bad, is := err.(*wire.DecodeError); is { // about a header
		return nil, bad
	}
	if err != nil {
		return nil, &wire.DecodeError{Reason: "cannot be read: " + err.Error()}
	}
	e.memory = text
	return m.UnpackedBut(text, unnamed), nil
}

// open converts a value, whose schema may be named before it or in a header.
func (m *Message) open(into []byte, r *wire.Message, most int) (text []byte, unnamed map[int]string, err error) {
	if m.framed {
		header, err := r.OptHeader(frame.Header)
		if err != nil {
			return nil, nil, err
		}
		if header != nil {
			_, place, err := frame.Named(header)
			if err != nil {
				return nil, nil, err
			}
			return m.is.OpenBeside(place, into, r.Value, most)
		}
	}
	return m.is.OpenWithin(into, r.Value, most)
}
