// Package framedjson unpacks record values and keys that are JSON behind the prefix that
// serializers of Confluent's schema registry write. Generated code uses it for topics with
// encoding confluent_json. The schema is not looked up: the decoder of the event reads the JSON
// (docs/encodings.md, Encoded values).
//
// It must not import any package of this module but frame, packed and wire.
package framedjson

import (
	"github.com/idemgen/idemgen/internal/frame"
	"github.com/idemgen/idemgen/runtime/internal/packed"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Encoding unpacks values that are JSON behind a prefix.
type Encoding struct{}

// Open returns m with what follows the prefix as its value, or with its value as it is if a header
// names the schema. A record without a value is returned unchanged. If neither the value nor a
// header names a schema, Open returns a [*wire.DecodeError].
func (Encoding) Open(m *wire.Message) (*wire.Message, error) { return open(m, false) }

// KeyEncoding unpacks keys that are JSON behind a prefix.
type KeyEncoding struct{}

// Open is [Encoding.Open] for the record key.
func (KeyEncoding) Open(m *wire.Message) (*wire.Message, error) { return open(m, true) }

func open(m *wire.Message, part packed.Part) (*wire.Message, error) {
	text := part.Of(m)
	if text == nil {
		return m, nil
	}
	_, named, err := part.Named(m)
	if err == nil && !named {
		_, text, err = frame.Split(text)
	}
	if err != nil {
		return nil, part.Refused(err)
	}
	return part.With(m, text, nil), nil
}
