// Package recent stores the keys that an owner claimed last: a limited number, for a limited time.
// It never finds a key that was not added, and may drop any key. It must not import any other
// package of this module.
package recent

import (
	"encoding/binary"
	"math"
	"time"
)

// Entry is what is known about a key.
type Entry struct {
	Def   uint32 // definition of the event's content
	Print uint32 // fingerprint of it
	Seq   int64  // row of the owner's chain that claimed it
}

// Keys stores keys. The zero value can store none; see [New]. Only one goroutine may use it at a
// time. A key takes 36 bytes.
type Keys struct {
	most  int
	keep  time.Duration
	since time.Time // of the slots' times
	first int64     // of the slots' rows
	ring  []slot    // oldest at next, once it is full
	next  int       // where the next one goes
	index index     // the place in ring of each key
}

// slot is a key in 32 bytes. Row and time count from those of the first key.
type slot struct {
	key   [16]byte
	def   uint32
	print uint32
	row   uint32
	milli uint32
}

// limit is how many places an index can name.
const limit = math.MaxUint16

// New returns an empty memory of at most most keys, limited to 65,535. Each key is kept for keep,
// rounded down to a millisecond.
func New(most int, keep time.Duration) *Keys { return &Keys{most: min(most, limit), keep: keep} }

// Add adds a key. If there is no space for it, it replaces the oldest one.
func (k *Keys) Add(key [16]byte, e Entry, now time.Time) {
	if k.most <= 0 {
		return
	}
	row, milli := e.Seq-k.first, now.Sub(k.since).Milliseconds()
	if len(k.ring) == 0 || row != int64(uint32(row)) || milli != int64(uint32(milli)) {
		// The first one, or too far from the first: all keys are dropped, and time and rows count
		// from this one.
		*k = Keys{most: k.most, keep: k.keep, since: now, first: e.Seq, ring: k.ring[:0], index: k.index.cleared()}
		row, milli = 0, 0
	}
	s := slot{key, e.Def, e.Print, uint32(row), uint32(milli)}
	place := k.next
	if len(k.ring) < k.most {
		place = len(k.ring)
		k.ring = append(k.grown(), s)
		k.index.grow(k.ring)
	} else {
		k.index.remove(k.ring, place)
		k.ring[place] = s
		k.next = (k.next + 1) % k.most
	}
	k.index.put(k.ring, place)
}

// grown is the ring with room for one more key, and never for more than the most: append would
// make some.
func (k *Keys) grown() []slot {
	if len(k.ring) < cap(k.ring) {
		return k.ring
	}
	return append(make([]slot, 0, min(max(16, 2*len(k.ring)), k.most)), k.ring...)
}

// Find finds a key. One that was added longer ago than keep is not found.
func (k *Keys) Find(key [16]byte, now time.Time) (Entry, bool) {
	i, ok := k.index.find(k.ring, key)
	if !ok {
		return Entry{}, false
	}
	s := &k.ring[i]
	if now.Sub(k.since)-time.Duration(s.milli)*time.Millisecond > k.keep {
		return Entry{}, false
	}
	return Entry{s.def, s.print, k.first + int64(s.row)}, true
}

// index finds the place of a key in a ring, by open addressing: a cell holds a place plus
// one, or 0, and a key's cell is the first one from its own on that holds it. At least half
// of the cells are 0. Their number is a power of two.
type index []uint16

// home returns the cell at which the search for a key begins. Most keys are hashes. The product
// spreads those that are not, because its first bits depend on all bits of the key.
func (x index) home(key [16]byte) int {
	h := binary.LittleEndian.Uint64(key[:8]) ^ binary.LittleEndian.Uint64(key[8:])
	return int(h * 0x9E3779B97F4A7C15 >> 32 * uint64(len(x)) >> 32)
}

// cell is the cell of a key: the one that holds it, or the one where it would go.
func (x index) cell(ring []slot, key [16]byte) int {
	i := x.home(key)
	for x[i] != 0 && ring[x[i]-1].key != key {
		i = (i + 1) & (len(x) - 1)
	}
	return i
}

func (x index) find(ring []slot, key [16]byte) (place int, ok bool) {
	if len(x) == 0 {
		return 0, false
	}
	i := x.cell(ring, key)
	return int(x[i]) - 1, x[i] != 0
}

// put has a key's cell name its newest place.
func (x index) put(ring []slot, place int) { x[x.cell(ring, ring[place].key)] = uint16(place + 1) }

// grow makes room for as many keys as the ring has places, and finds all of them again.
func (x *index) grow(ring []slot) {
	if 2*len(ring) <= len(*x) {
		return
	}
	*x = make(index, max(2*len(*x), 8))
	for place := range ring {
		x.put(ring, place) // a later place of the same key takes the cell over
	}
}

// remove forgets the key at a place, unless the index knows a newer place of it. Keys after
// it that were put there because its cell was taken move up.
func (x index) remove(ring []slot, place int) {
	hole := x.cell(ring, ring[place].key)
	if x[hole] != uint16(place+1) {
		return
	}
	mask := len(x) - 1
	for i := (hole + 1) & mask; x[i] != 0; i = (i + 1) & mask {
		home := x.home(ring[x[i]-1].key)
		if (i-home)&mask >= (i-hole)&mask { // its search passes the hole
			x[hole], hole = x[i], i
		}
	}
	x[hole] = 0
}

// cleared is the index with nothing in it.
func (x index) cleared() index {
	clear(x)
	return x
}
