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
type Fingerprint struct{ parts parts }

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

// JSON adds a JSON value; white space outside of its strings is ignored.
func (f *Fingerprint) JSON(name string, raw []byte) {
	f.AppendJSON(name, func(b []byte) []byte { return append(b, raw...) })
}

// AppendJSON adds the JSON value that put appends.
func (f *Fingerprint) AppendJSON(name string, put func([]byte) []byte) {
	p := f.name(name)
	*p = append(*p, partJSON, 0, 0, 0, 0)
	at := len(*p)
	*p = compact(put(*p), at)
	binary.BigEndian.PutUint32((*p)[at-4:], uint32(len(*p)-at))
}

// compact drops white space outside of the strings of the JSON value that begins at b[at].
func compact(b []byte, at int) []byte {
	end := at
	inString := false
	for i := at; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\' && i+1 < len(b):
			b[end] = c
			end++
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\n' || c == '\r' || c == '\t'):
			continue
		}
		b[end] = b[i]
		end++
	}
	return b[:end]
}
