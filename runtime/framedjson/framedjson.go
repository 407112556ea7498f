// Package framedjson unpacks record values that are JSON behind the prefix that serializers of
// Confluent's schema registry write. Generated code uses it for topics with encoding
// confluent_json. The schema is not looked up: the decoder of the event reads the JSON
// (docs/spec.md, Packed values).
//
// It must not import any package of this module but frame and wire.
package framedjson

import (
	"github.com/idemgen/idemgen/internal/frame"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Encoding unpacks values that are JSON behind a prefix.
type Encoding struct{}

// Open returns m with what follows the prefix as its value. A record without a value is returned
// unchanged. If the value has no prefix, Open returns a [*wire.DecodeError].
func (Encoding) Open(m *wire.Message) (*wire.Message, error) {
	if m.Value == nil {
		return m, nil
	}
	_, value, err := frame.Split(m.Value)
	if err != nil {
		return nil, &wire.DecodeError{Reason: "cannot be read: " + err.Error()}
	}
	return m.Unpacked(value), nil
}
