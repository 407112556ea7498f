package keyset

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"time"
)

// segment is the keys of consecutive rows: a table with open addressing, at most three
// quarters full. The last bytes of a key are of a SHA-256, so that they serve as hash.
type segment struct {
	first, last    int64     // rows
	oldest, newest time.Time // of the first row; of the youngest one
	count          int
	slots          []slot
	defs           []uint32 // definitions of the content of its keys
	def            []uint16 // per slot, which of defs; nil while there is one
}

// mostDefs is how many definitions a segment can tell apart.
const mostDefs = 1 << 16

// defBytes is what a slot takes besides its entry if its segment has several definitions.
const defBytes = 2

// slot is a key and its fingerprint. The zero key, which no event has, marks an empty one.
type slot [EntryBytes]byte

func (s *slot) key() *[16]byte { return (*[16]byte)(s[:16]) }

// slotsFor is how many slots n keys need.
func slotsFor(n int) int { return n*4/3 + 1 }

// slotBytes is the size of a slot.
func slotBytes(mixed bool) int64 {
	if mixed {
		return EntryBytes + defBytes
	}
	return EntryBytes
}

// tableBytes is the size of a table for n keys: 27 bytes per key, 30 if their definitions
// are mixed.
func tableBytes(n int, mixed bool) int64 { return int64(slotsFor(n)) * slotBytes(mixed) }

func (g *segment) mixed() bool { return len(g.defs) > 1 }

func (g *segment) size() int64 { return int64(len(g.slots))*EntryBytes + int64(len(g.def))*defBytes }

// index is the place of a definition among those of the segment.
func (g *segment) index(def uint32) uint16 {
	i := slices.Index(g.defs, def)
	if i < 0 {
		i = len(g.defs)
		if g.defs = append(g.defs, def); i == 1 {
			g.def = make([]uint16, len(g.slots))
		}
	}
	return uint16(i)
}

// find finds a key, from the slot where its hash points.
func (g *segment) find(key *[16]byte) (print, def uint32, ok bool) {
	if g.count == 0 {
		return 0, 0, false
	}
	i := g.slot(key)
	s := &g.slots[i]
	if *s.key() != *key {
		return 0, 0, false
	}
	def = g.defs[0]
	if g.mixed() {
		def = g.defs[g.def[i]]
	}
	return binary.BigEndian.Uint32(s[16:]), def, true
}

// slot is the place of the one that holds key, or of the empty one where it belongs.
func (g *segment) slot(key *[16]byte) int {
	hash, _ := bits.Mul64(binary.BigEndian.Uint64(key[8:]), uint64(len(g.slots)))
	for i := int(hash); ; {
		if k := g.slots[i].key(); *k == *key || *k == [16]byte{} {
			return i
		}
		if i++; i == len(g.slots) {
			i = 0
		}
	}
}

// insertAll adds keys in groups, for which there must be room. A key that is there already
// keeps its first fingerprint.
func (g *segment) insertAll(keys []byte, groups []group) {
	for _, add := range groups {
		def := g.index(add.def)
		for range add.keys {
			entry := (*slot)(keys)
			keys = keys[EntryBytes:]
			i := g.slot(entry.key())
			if *g.slots[i].key() == *entry.key() {
				continue
			}
			g.slots[i] = *entry
			if g.mixed() {
				g.def[i] = def
			}
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
func (g *segment) growth(n int, mixed bool) int64 {
	return int64(g.grown(n))*slotBytes(mixed) - g.size()
}

// grow makes room for n more keys.
func (g *segment) grow(n int) { g.resize(g.grown(n)) }

// resize moves the keys to a table of that many slots.
func (g *segment) resize(slots int) {
	if slots == len(g.slots) {
		return
	}
	old, def := g.slots, g.def
	g.slots = make([]slot, slots)
	if g.mixed() {
		g.def = make([]uint16, slots)
	}
	for i := range old {
		if *old[i].key() == [16]byte{} {
			continue
		}
		at := g.slot(old[i].key())
		g.slots[at] = old[i]
		if g.mixed() {
			g.def[at] = def[i]
		}
	}
}
