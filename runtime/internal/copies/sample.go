package copies

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
)

// place is the row of a chain that a key is in.
type place struct {
	stream      int32
	seq         int64
	first, next int64 // the offsets that the row covers, up to below next
	written     int64 // microseconds, by the database's clock
}

// most is how many keys a sample holds: about 4 MiB.
const most = 1 << 15

// sample is the places of all keys whose last bits are those that were drawn. The last bytes
// of a key are of a SHA-256, so that any of their bits serve. A process draws its own: two
// processes find more than one.
type sample struct {
	places map[[16]byte]place
	drawn  uint64
	bits   uint // how many must be alike
}

// covers reports whether a key belongs to the sample.
func (s *sample) covers(key [16]byte) bool {
	return (binary.BigEndian.Uint64(key[8:])^s.drawn)&(1<<s.bits-1) == 0
}

// share is the part of all keys that belongs to it: one in so many.
func (s *sample) share() int { return 1 << s.bits }

// put adds a key that belongs to the sample. If there is no room, first those go whose window
// is over, and then, as often as it must be, every second one.
func (s *sample) put(key [16]byte, p place, over func(place) bool) {
	if s.places == nil {
		s.places, s.drawn = map[[16]byte]place{}, rand.Uint64()
	}
	if _, known := s.places[key]; !known && len(s.places) == most {
		s.drop(over)
		for len(s.places) > most*3/4 {
			s.bits++
			maps.DeleteFunc(s.places, func(key [16]byte, _ place) bool { return !s.covers(key) })
		}
	}
	if s.covers(key) {
		s.places[key] = p
	}
}

// tidy drops what is over, and takes more keys in where there is room. It may be too many,
// since the keys of a window are yet to come: what goes then was not in it before.
func (s *sample) tidy(over func(place) bool) {
	s.drop(over)
	if s.bits > 0 && len(s.places) < most/4 {
		s.bits--
	}
}

func (s *sample) drop(over func(place) bool) {
	maps.DeleteFunc(s.places, func(_ [16]byte, p place) bool { return over(p) })
}
