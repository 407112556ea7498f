package wire

import (
	"crypto/sha256"
	"time"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// KeyBuilder builds the key of an event from the parts that the spec names. Call Start, then one
// method per part in the spec's order, then Sum. A missing, null or empty part is an error, never
// a key. KeyBuilder keeps the first error. The zero value is ready for use. A [Batch] owns one
// and passes it to every event.
type KeyBuilder struct {
	parts parts
	place place
	err   *DecodeError
}

// Start begins a key. space is 16 bytes: a hash of consumer, topic and event.
func (k *KeyBuilder) Start(space string) {
	k.parts, k.place, k.err = append(k.parts[:0], space...), place{}, nil
}

// Header adds the value of the only header called name.
func (k *KeyBuilder) Header(m *Message, name string) {
	v, err := m.Header(name)
	if err != nil {
		k.fail("header "+name, err.(*DecodeError).Reason)
		return
	}
	if len(v) == 0 {
		k.fail("header "+name, partEmpty)
	} else if flaw := notation.TextFlaw(v); flaw != "" {
		k.fail("header "+name, flaw)
	}
	k.parts.bytes(partHeader, v)
	placeText(&k.place, v)
}

const partEmpty = "is empty, but part of the key"

// Text adds a text or an enum; path names it in errors.
func (k *KeyBuilder) Text(path, v string) {
	if v == "" {
		k.fail(path, partEmpty)
	}
	k.parts.text(partText, v)
	placeText(&k.place, v)
}

// Bytes adds bytes; path names them in errors.
func (k *KeyBuilder) Bytes(path string, v []byte) {
	if len(v) == 0 {
		k.fail(path, partEmpty)
	}
	k.parts.bytes(partBytes, v)
}

// UUID adds a UUID; the nil UUID is a value.
func (k *KeyBuilder) UUID(_ string, v UUID) {
	k.parts.bytes(partUUID, v[:])
	k.place.uuid(v)
}

// Int32 adds an integer; it equals the same number added by Int64.
func (k *KeyBuilder) Int32(path string, v int32) { k.Int64(path, int64(v)) }

// Int64 adds an integer.
func (k *KeyBuilder) Int64(_ string, v int64) {
	k.parts.fixed8(partInt, uint64(v))
	k.place.number(v)
}

// Decimal adds a number; trailing zeros of the fraction are ignored.
func (k *KeyBuilder) Decimal(_ string, v Decimal) { k.parts.text(partDecimal, v.normal()) }

// Time adds a time, as microseconds since 1970 in UTC.
func (k *KeyBuilder) Time(_ string, v time.Time) {
	k.parts.time(v)
	k.place.time(v)
}

// Date adds a date.
func (k *KeyBuilder) Date(_ string, v Date) { k.parts.fixed8(partDate, uint64(int64(v))) }

func (k *KeyBuilder) fail(path, reason string) {
	if k.err == nil {
		k.err = &DecodeError{Class: ReasonKey, Path: path, Reason: reason}
	}
}

// Sum returns the key, or the first error as a [*DecodeError] of event.
func (k *KeyBuilder) Sum(event string) (Key, error) {
	if k.err != nil {
		k.err.Event = event
		return Key{}, k.err
	}
	h := sha256.Sum256(k.parts)
	return k.place.in(Key(h[:16])), nil
}
