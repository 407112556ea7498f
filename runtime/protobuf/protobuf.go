// Package protobuf unpacks record values and keys that are protobuf messages. Generated code uses
// it for topics with encoding protobuf. It converts a message to JSON with the names of the .proto
// file, and the decoder of the event reads that (docs/encodings.md, Encoded values).
//
// It must not import any package of this module but packed, protomsg and wire.
package protobuf

import (
	"encoding/base64"
	"fmt"

	"github.com/idemgen/idemgen/internal/protomsg"
	"github.com/idemgen/idemgen/runtime/internal/packed"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Message is the protobuf type of a topic's values or record keys. It is safe for concurrent use.
type Message struct {
	is     *protomsg.Type
	framed bool
	part   packed.Part
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
	return &Message{is: is, framed: framed}
}

// OfKeys returns the same type for record keys.
func (m *Message) OfKeys() *Message { return &Message{is: m.is, framed: m.framed, part: true} }

// Encoding unpacks values, or record keys, that are messages. It is not safe for concurrent use.
type Encoding struct {
	Message *Message
	Most    int // limit of a message's size as JSON, in bytes: limits.max_payload; 0 means no limit
	memory  []byte
}

// Open returns m with its value, or its key, converted to JSON, valid until the next Open. A
// record without it is returned unchanged. If it cannot be decoded, Open returns a
// [*wire.DecodeError].
func (e *Encoding) Open(m *wire.Message) (*wire.Message, error) {
	part := e.Message.part
	if part.Of(m) == nil {
		return m, nil
	}
	text, why, err := e.Message.open(e.memory[:0], m, e.Most)
	if err != nil {
		return nil, part.Refused(err)
	}
	e.memory = text
	return part.With(m, text, why), nil
}

// open converts a value or a key, whose schema may be named before it or in a header.
func (m *Message) open(into []byte, r *wire.Message, most int) (text []byte, why map[int]string, err error) {
	if m.framed {
		place, named, err := m.part.Place(r)
		if err != nil {
			return nil, nil, err
		}
		if named {
			return m.is.OpenBeside(place, into, m.part.Of(r), most)
		}
	}
	return m.is.OpenWithin(into, m.part.Of(r), most)
}
