package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"time"
)

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
