package keyset

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// segment is the keys of consecutive rows: a table with open addressing, at most three
// quarters full. Keys are the start of a SHA-256, so their bytes serve as hash.
type segment struct {
	first, last    int64 // rows
	def            int32
	oldest, newest time.Time // of the first row; of the youngest one
	count          int
	slots          []slot
}

// slot is a key and its fingerprint. The zero key, which no event has, marks an empty one.
type slot [EntryBytes]byte

func (s *slot) key() *[16]byte { return (*[16]byte)(s[:16]) }

// slotsFor is how many slots n keys need.
func slotsFor(n int) int { return n*4/3 + 1 }

// tableBytes is the size of a table for n keys: 27 bytes per key.
func tableBytes(n int) int64 { return int64(slotsFor(n)) * EntryBytes }

func (g *segment) size() int64 { return int64(len(g.slots)) * EntryBytes }

// find looks a key up from the slot where its hash points.
func (g *segment) find(key *[16]byte) (print uint32, ok bool) {
	if g.count == 0 {
		return 0, false
	}
	s := g.slot(key)
	if *s.key() != *key {
		return 0, false
	}
	return binary.BigEndian.Uint32(s[16:]), true
}

// slot is the one that holds key, or the empty one where it belongs.
func (g *segment) slot(key *[16]byte) *slot {
	hash, _ := bits.Mul64(binary.BigEndian.Uint64(key[:8]), uint64(len(g.slots)))
	for i := int(hash); ; {
		s := &g.slots[i]
		if k := s.key(); *k == *key || *k == [16]byte{} {
			return s
		}
		if i++; i == len(g.slots) {
			i = 0
		}
	}
}

// insertAll adds keys, for which there must be room. A key that is there already keeps its
// first fingerprint.
func (g *segment) insertAll(keys []byte) {
	for ; len(keys) >= EntryBytes; keys = keys[EntryBytes:] {
		entry := (*slot)(keys)
		if s := g.slot(entry.key()); *s.key() != *entry.key() {
			*s = *entry
			g.count++
		}
	}
}

// grown is how many slots the table has once n more keys fit.
func (g *segment) grown(n int) int {
	if need := slotsFor(g.count + n); need > len(g.slots) {
		return max(need, len(g.slots)*3/2)
	}
	return len(g.slots)
}

// growth is by how many bytes the table grows before n more keys fit.
func (g *segment) growth(n int) int64 { return int64(g.grown(n)-len(g.slots)) * EntryBytes }

// grow makes room for n more keys.
func (g *segment) grow(n int) { g.resize(g.grown(n)) }

// resize moves the keys to a table of that many slots.
func (g *segment) resize(slots int) {
	if slots == len(g.slots) {
		return
	}
	old := g.slots
	g.slots = make([]slot, slots)
	for i := range old {
		if *old[i].key() != [16]byte{} {
			*g.slot(old[i].key()) = old[i]
		}
	}
}
