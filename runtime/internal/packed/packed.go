// Package packed is what the encodings have in common: the part of a record that they unpack, its
// value or its key, and the header that may name its schema.
//
// It must not import any package of this module but frame and wire.
package packed

import (
	"github.com/idemgen/idemgen/internal/frame"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Part is a part of a record: the zero Part is its value, true its key.
type Part bool

// Of returns the bytes of a record's part, or nil if it has none.
func (p Part) Of(m *wire.Message) []byte {
	if p {
		return m.Key
	}
	return m.Value
}

// Named returns the schema that a header names. It reports whether there is such a header.
func (p Part) Named(m *wire.Message) (schema frame.Schema, is bool, err error) {
	name, header, err := p.header(m)
	if header == nil {
		return frame.Schema{}, false, err
	}
	schema, err = frame.Named(name, header)
	return schema, true, err
}

// Place returns what follows the schema in a header that names one: the place of a message in its
// file, in Protobuf. It reports whether there is such a header.
func (p Part) Place(m *wire.Message) (place []byte, is bool, err error) {
	name, header, err := p.header(m)
	if header == nil {
		return nil, false, err
	}
	_, place, err = frame.NamedWithPlace(name, header)
	return place, true, err
}

// header returns the header that may name the schema of the part; nil if there is none.
func (p Part) header(m *wire.Message) (name string, header []byte, err error) {
	name = frame.Header
	if p {
		name = frame.KeyHeader
	}
	header, err = m.OptHeader(name)
	return name, header, err
}

// With returns m with text in place of the part's bytes, in memory that will be reused. why says
// why a field cannot read some of its values, by their positions.
func (p Part) With(m *wire.Message, text []byte, why map[int]string) *wire.Message {
	if p {
		return m.UnpackedKey(text, why)
	}
	return m.Unpacked(text, why)
}

// Refused returns the error for a part that cannot be unpacked, as a [*wire.DecodeError].
func (p Part) Refused(err error) error {
	if _, is := err.(*wire.DecodeError); is { // about a header
		return err
	}
	bad := &wire.DecodeError{Reason: "cannot be read: " + err.Error()}
	if p {
		bad.Path = "record key"
	}
	return bad
}
