// Package frame reads and writes the prefix that the serializers of Confluent's schema registry
// write before a value: a zero byte, and the number of the schema in 4 bytes. It must not import
// any other package of this module.
package frame

import (
	"encoding/binary"
	"errors"
)

const (
	magic = 0
	size  = 5 // of the prefix
)

// ErrNone is the error of [Split] for a value without the prefix.
var ErrNone = errors.New("it does not begin with a zero byte and the number of a schema")

// Split returns the number of the schema that the prefix of a value names, and what follows the
// prefix.
func Split(value []byte) (number uint32, rest []byte, err error) {
	if len(value) < size || value[0] != magic {
		return 0, nil, ErrNone
	}
	return binary.BigEndian.Uint32(value[1:]), value[size:], nil
}

// Append appends the prefix with the number of a schema.
func Append(b []byte, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, magic), number)
}
