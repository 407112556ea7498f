package wire

import (
	"encoding/binary"
	"time"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

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
