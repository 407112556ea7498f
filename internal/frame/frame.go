// Package frame reads and writes what the serializers of Confluent's schema registry add to a
// value: before it, a zero byte and the number of the schema in 4 bytes, or that in a record
// header, or there a byte 1 and the GUID of the schema. It must not import any other package of
// this module.
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Names of the record headers that may have the schema of a value, and of a key.
const (
	Header    = "__value_schema_id"
	KeyHeader = "__key_schema_id"
)

const (
	magic     = 0
	magicGUID = 1
	size      = 5 // of the prefix
	sizeGUID  = 17
)

// Schema is what a record names its schema by: a number, or a GUID.
type Schema struct {
	Number uint32
	GUID   [16]byte
	Global bool // it is the GUID
}

// String returns the number, or the GUID in its usual form.
func (s Schema) String() string {
	if g := s.GUID; s.Global {
		return fmt.Sprintf("%x-%x-%x-%x-%x", g[:4], g[4:6], g[6:8], g[8:10], g[10:])
	}
	return fmt.Sprint(s.Number)
}

// What is wrong with a value or with the header.
var (
	// ErrNone is the error for a value without the prefix.
	ErrNone     = errors.New("it does not begin with a zero byte and a schema id")
	errZero     = errors.New("it names schema 0, which no registry has")
	errJSON     = errors.New("it begins like JSON, not with a zero byte and a schema id")
	errGlue     = errors.New("it begins with the 18 bytes of AWS Glue's schema registry, not with a zero byte and a schema id")
	errApicurio = errors.New("it begins with a zero byte and a schema id of 8 bytes, as Apicurio's serializers may write it, not with one of 4 bytes: set their apicurio.registry.as-confluent")
)

// Split returns the schema that the prefix of a value names, and what follows the prefix.
func Split(value []byte) (s Schema, rest []byte, err error) {
	if len(value) < size || value[0] != magic {
		return Schema{}, nil, other(value)
	}
	switch s.Number = binary.BigEndian.Uint32(value[1:]); {
	case s.Number == 0 && len(value) >= 9:
		return Schema{}, nil, errApicurio
	case s.Number == 0:
		return Schema{}, nil, errZero
	}
	return s, value[size:], nil
}

// Named returns the schema that a record header called name names. Only Protobuf has something
// behind it there, the place of a message in its file: NamedWithPlace returns both.
func Named(name string, header []byte) (Schema, error) {
	s, rest, err := NamedWithPlace(name, header)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("header %s is longer than the id or the GUID of a schema", name)
	}
	if err != nil {
		return Schema{}, err
	}
	return s, nil
}

// NamedWithPlace returns the schema that a record header called name names, and what follows it
// there.
func NamedWithPlace(name string, header []byte) (s Schema, rest []byte, err error) {
	switch {
	case len(header) >= size && header[0] == magic:
		s, rest = Schema{Number: binary.BigEndian.Uint32(header[1:])}, header[size:]
	case len(header) >= sizeGUID && header[0] == magicGUID:
		s, rest = Schema{GUID: [16]byte(header[1:]), Global: true}, header[sizeGUID:]
	default:
		return Schema{}, nil, fmt.Errorf("header %s is neither a zero byte and a schema id nor a byte 1 and a schema GUID", name)
	}
	if s.Number == 0 && s.GUID == [16]byte{} {
		return Schema{}, nil, fmt.Errorf("header %s names schema 0, which no registry has", name)
	}
	return s, rest, nil
}

// other returns what a value begins with that has no prefix.
func other(value []byte) error {
	switch {
	case len(value) >= 18 && value[0] == 3 && (value[1] == 0 || value[1] == 5): // plain, or compressed
		return errGlue
	case len(value) > 0 && (value[0] == '{' || value[0] == '['):
		return errJSON
	}
	return ErrNone
}

// Append appends the prefix with the number of a schema.
func Append(b []byte, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, magic), number)
}
