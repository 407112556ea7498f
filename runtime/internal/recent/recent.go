// Package recent remembers the keys that an owner claimed last: a number of them, for a
// time. It never answers for a key that it was not given, and may forget any. It must not
// import any other package of this module.
package recent

import "time"

// Entry is what is remembered about a key.
type Entry struct {
	Def   uint32 // definition of the event's content
	Print uint32 // fingerprint of it
	Seq   int64  // row of the owner's chain that claimed it
}

// Keys are the keys remembered. The zero value remembers none; see [New]. It is used by one
// goroutine at a time.
type Keys struct {
	most int
	keep time.Duration
	ring []slot           // oldest at next, once it is full
	next int              // where the next one goes
	at   map[[16]byte]int // place in ring
}

type slot struct {
	key   [16]byte
	entry Entry
	since time.Time
}

// New returns an empty memory of at most so many keys, each for the time keep.
func New(most int, keep time.Duration) *Keys {
	return &Keys{most: most, keep: keep, at: map[[16]byte]int{}}
}

// Add remembers a key, and forgets the oldest one if there is no room.
func (k *Keys) Add(key [16]byte, e Entry, now time.Time) {
	s := slot{key, e, now}
	if len(k.ring) < k.most {
		k.at[key] = len(k.ring)
		k.ring = append(k.ring, s)
		return
	}
	if k.most <= 0 {
		return
	}
	old := k.ring[k.next].key
	if k.at[old] == k.next { // else it was added again, later
		delete(k.at, old)
	}
	k.at[key] = k.next
	k.ring[k.next] = s
	k.next = (k.next + 1) % k.most
}

// Find looks a key up. One that was added longer ago than keep is forgotten.
func (k *Keys) Find(key [16]byte, now time.Time) (Entry, bool) {
	i, ok := k.at[key]
	if !ok || now.Sub(k.ring[i].since) > k.keep {
		return Entry{}, false
	}
	return k.ring[i].entry, true
}
