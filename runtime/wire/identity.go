package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
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

// parts is a list of typed, length-prefixed values. Two different lists never have the
// same bytes: ("a", "1-2") and ("a-1", "2") differ, and so do 1 and "1".
type parts []byte

// The type of a part. These letters are hashed into stored keys: they must never change.
const (
	partHeader  = 'h'
	partText    = 't'
	partUUID    = 'u'
	partBool    = 'b'
	partInt     = 'i'
	partFloat   = 'f'
	partDecimal = 'd'
	partTime    = 'z' // with zone, as microseconds since 1970 in UTC
	partLocal   = 'l'
	partDate    = 'y'
	partBytes   = 'x'
	partJSON    = 'j'
	partName    = 'n'
	partNull    = '0'
)

func (p *parts) prefix(kind byte, n int) {
	*p = binary.AppendUvarint(append(*p, kind), uint64(n))
}

func (p *parts) bytes(kind byte, v []byte) {
	p.prefix(kind, len(v))
	*p = append(*p, v...)
}

func (p *parts) text(kind byte, v string) {
	p.prefix(kind, len(v))
	*p = append(*p, v...)
}

func (p *parts) fixed8(kind byte, v uint64) {
	*p = binary.BigEndian.AppendUint64(append(*p, kind, 8), v)
}

func (p *parts) time(v time.Time) { p.fixed8(partTime, uint64(v.UnixMicro())) }

// Fingerprint distinguishes events with the same key but different content. Call Start, then one
// method per field in the order of their names, then Sum. A field that is absent or null is left
// out, so the two count as equal. The zero value is ready for use.
type Fingerprint struct {
	parts   parts
	content jsonContent
	text    []byte // of a value whose content is added
}

// Start begins a fingerprint.
func (f *Fingerprint) Start() { f.parts = f.parts[:0] }

// Sum returns the first 4 bytes of a SHA-256 over the fields. Two different contents have the same
// fingerprint once in 4,000,000,000 times.
func (f *Fingerprint) Sum() uint32 {
	h := sha256.Sum256(f.parts)
	return binary.BigEndian.Uint32(h[:])
}

func (f *Fingerprint) name(name string) *parts {
	f.parts.text(partName, name)
	return &f.parts
}

// Text adds a text or an enum.
func (f *Fingerprint) Text(name, v string) { f.name(name).text(partText, v) }

// UUID adds a UUID.
func (f *Fingerprint) UUID(name string, v UUID) { f.name(name).bytes(partUUID, v[:]) }

// Bool adds a bool.
func (f *Fingerprint) Bool(name string, v bool) {
	var n uint64
	if v {
		n = 1
	}
	f.name(name).fixed8(partBool, n)
}

// Int32 adds an integer.
func (f *Fingerprint) Int32(name string, v int32) { f.Int64(name, int64(v)) }

// Int64 adds an integer.
func (f *Fingerprint) Int64(name string, v int64) { f.name(name).fixed8(partInt, uint64(v)) }

// Float64 adds a number; -0 is 0.
func (f *Fingerprint) Float64(name string, v float64) {
	f.name(name).fixed8(partFloat, math.Float64bits(v+0))
}

// Decimal adds a number; trailing zeros of the fraction are ignored.
func (f *Fingerprint) Decimal(name string, v Decimal) { f.name(name).text(partDecimal, v.normal()) }

// Time adds a time; its zone is ignored.
func (f *Fingerprint) Time(name string, v time.Time) { f.name(name).time(v) }

// LocalTime adds a local time.
func (f *Fingerprint) LocalTime(name string, v LocalTime) { f.name(name).fixed8(partLocal, uint64(v)) }

// Date adds a date.
func (f *Fingerprint) Date(name string, v Date) { f.name(name).fixed8(partDate, uint64(int64(v))) }

// Bytes adds bytes.
func (f *Fingerprint) Bytes(name string, v []byte) { f.name(name).bytes(partBytes, v) }

// JSONValue adds a JSON value. Values that jsonb stores as equal are equal: white space, the order
// of members, all but the last of repeated members, escapes and the way of writing a number do not
// count.
func (f *Fingerprint) JSONValue(name string, raw []byte) {
	p, at := f.json(name)
	*p = f.content.append(*p, raw)
	p.sized(at)
}

// AppendJSONValue is [Fingerprint.JSONValue] of the value that put appends.
func (f *Fingerprint) AppendJSONValue(name string, put func([]byte) []byte) {
	f.text = put(f.text[:0])
	f.JSONValue(name, f.text)
	if cap(f.text) > keptContent {
		f.text = nil
	}
}

// AppendJSON adds the JSON value that put appends. Equal values must have one text.
func (f *Fingerprint) AppendJSON(name string, put func([]byte) []byte) {
	p, at := f.json(name)
	*p = put(*p)
	p.sized(at)
}

// json begins a JSON value, and returns where it begins.
func (f *Fingerprint) json(name string) (p *parts, at int) {
	p = f.name(name)
	*p = append(*p, partJSON, 0, 0, 0, 0)
	return p, len(*p)
}

// sized ends the value that begins at at: its size is before it.
func (p parts) sized(at int) { binary.BigEndian.PutUint32(p[at-4:], uint32(len(p)-at)) }

// place is where a key is among others in an index: near those that were made shortly
// before. An index of keys without an order is read and written all over, and more so the more
// keys there are. A part that was made in an order gives a key its place: a UUID of version 6
// or 7 (RFC 9562), a time, a whole number. The other bytes of the key are of its hash, as all
// are of a key without a place.
type place struct {
	by   origin
	bits uint64 // the last placeBytes count
}

// origin is what gives a place. The greater one counts, and of equal ones the first.
type origin uint8

const (
	nowhere origin = iota
	counted
	timed
)

// placeBytes is how many bytes of a key are its place; 11 are left for the hash.
const placeBytes = 5

// in returns the key with its place in front.
func (p *place) in(hash Key) Key {
	if p.by == nowhere {
		return hash
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], p.bits<<(64-8*placeBytes))
	copy(hash[:], b[:placeBytes])
	return hash
}

func (p *place) put(by origin, bits uint64) {
	if by > p.by {
		p.by, p.bits = by, bits
	}
}

// uuid places a UUID that begins with the time at which it was made. Those of a quarter of a
// second (version 7) share a place.
func (p *place) uuid(v UUID) {
	if version := v[6] >> 4; version == 6 || version == 7 {
		p.put(timed, binary.BigEndian.Uint64(v[:8])>>(64-8*placeBytes))
	}
}

// time places a time; those of a quarter of a second share a place.
func (p *place) time(v time.Time) { p.put(timed, uint64(v.UnixMicro())>>18) }

// number places a whole number; 256 share a place.
func (p *place) number(v int64) { p.put(counted, uint64(v)>>8) }

// Where the text of a UUID tells its version, and the longest number that is read.
const (
	uuidText    = 36
	uuidVersion = 14
	mostDigits  = 18
)

// placeText places the text of a UUID or of a whole number.
func placeText[T string | []byte](p *place, v T) {
	if len(v) == uuidText && (v[uuidVersion] == '6' || v[uuidVersion] == '7') {
		var text [uuidText]byte
		copy(text[:], v)
		if u, flaw := notation.UUID(text[:]); flaw == "" {
			p.uuid(u)
		}
		return
	}
	if len(v) > mostDigits {
		return
	}
	n := int64(0)
	for i := range len(v) {
		digit := v[i] - '0'
		if digit > 9 {
			return
		}
		n = 10*n + int64(digit)
	}
	p.number(n)
}
