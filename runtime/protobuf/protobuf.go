// Package protobuf unpacks the values of topics whose records are protobuf messages, for code
// that idemgen generates: payload: {encoding: protobuf} of a spec. Decoders read what the message
// is as JSON, with the names of the .proto file (docs/spec.md, Packed values).
//
// It must not import any package of this module but wire and protomsg.
package protobuf

import (
	"encoding/base64"
	"fmt"

	"github.com/idemgen/idemgen/internal/protomsg"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Message is the type of a topic's messages. Any goroutine may use it.
type Message struct{ is *protomsg.Type }

// New returns the type of a message. The schema is a FileDescriptorSet in base64. Framed messages
// are behind what the serializers of Confluent's registry write. New panics if the schema is
// broken or lacks the message: generated code has a whole one.
func New(schema, message string, framed bool) *Message {
	set, err := base64.StdEncoding.DecodeString(schema)
	if err != nil {
		panic(fmt.Sprintf("idem: the schema of %s: %v", message, err))
	}
	is, err := protomsg.New(set, message, framed)
	if err != nil {
		panic(fmt.Sprintf("idem: the schema of %s: %v", message, err))
	}
	return &Message{is}
}

// Encoding unpacks values that are messages. It is not safe for concurrent use.
type Encoding struct {
	Message *Message
	Most    int // bytes of JSON that a message may become: limits.max_payload; 0 is any number
	memory  []byte
}

// Open returns m with its message as JSON in place of the value, valid until the next Open. A
// record without a value is returned as it is. What is no such message is a [*wire.DecodeError].
func (e *Encoding) Open(m *wire.Message) (*wire.Message, error) {
	if m.Value == nil {
		return m, nil
	}
	text, err := e.Message.is.OpenWithin(e.memory[:0], m.Value, e.Most)
	if err != nil {
		return nil, &wire.DecodeError{Reason: "cannot be read: " + err.Error()}
	}
	e.memory = text
	return m.Unpacked(text), nil
}
