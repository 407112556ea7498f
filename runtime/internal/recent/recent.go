// Package recent stores the keys that an owner claimed last: a limited number, for a limited time.
// It never finds a key that was not added, and may drop any key. It must not import any other
// package of this module.
package recent

import (
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
