// Package keyset is a partition's memory of keys: exactly those in the rows of its chain from the
// window on. It is a table in memory without I/O; package keys fills it with the chain's rows and
// decides when a row is old. It must not import any other package of this module.
package keyset

import "time"

// EntryBytes is the size of a key and its fingerprint, in the chain and in memory.
const EntryBytes = 20

// spans is how many segments share a window. A segment is dropped as a whole, so a key is
// known for up to one spans-th of the window longer than it must be.
const spans = 8

// Row is what one row of the chain adds to a Set.
type Row struct {
	Seq     int64
	Written time.Time // by the database's clock
	Keys    []byte    // EntryBytes per key: 16 of its hash, 4 of the fingerprint; not kept
	Defs    []byte    // GroupBytes per group of keys; not kept
}

// Set contains the keys of the chain's rows from the window on, in segments of consecutive rows.
// Only one goroutine may use it at a time, but any goroutine may call Free.
type Set struct {
	budget   *Budget
	span     time.Duration
	segments []*segment // oldest first; keys are added to the last one
	loading  []byte     // keys that Load read for the last segment
	groups   []group    // their definitions
	reserved int64      // bytes promised to the keys of the next Add
	held     int64      // bytes counted in the budget; guarded by its lock, like freed
	freed    bool
}

// New returns an empty Set for a window.
func New(b *Budget, window time.Duration) *Set { return &Set{budget: b, span: window / spans} }

// Find finds a key.
func (s *Set) Find(key [16]byte) (print, def uint32, ok bool) {
	for i := len(s.segments) - 1; i >= 0; i-- {
		if print, def, ok = s.segments[i].find(&key); ok {
			return print, def, true
		}
	}
	return 0, 0, false
}

// Len returns the number of keys in the Set.
func (s *Set) Len() int {
	n := 0
	for _, g := range s.segments {
		n += g.count
	}
	return n
}

// Load adds a row that was read from the chain, in the chain's order. Loaded ends it; before
// that no key is found. It reports false, and the Set is of no use, if the memory is full.
// Until its segment is complete, a key takes its EntryBytes a second time.
func (s *Set) Load(r Row) bool {
	groups := groupsOf(r)
	g := s.segmentOf(r, groups)
	s.loading = append(s.loading, r.Keys...)
	for _, add := range groups {
		g.index(add.def)
		if n := len(s.groups); n > 0 && s.groups[n-1].def == add.def {
			s.groups[n-1].keys += add.keys
		} else {
			s.groups = append(s.groups, add)
		}
	}
	read := int64(len(s.groups)) * GroupBytes
	return s.budget.hold(s, s.size()+read+tableBytes(len(s.loading)/EntryBytes, g.mixed()), 0)
}

// Loaded says that every row was loaded.
func (s *Set) Loaded() {
	s.seal()
	s.loading, s.groups = nil, nil
	s.count()
}

// Add adds a row that is known to be in the chain. It never fails: Reserve asked before
// whether there is room.
func (s *Set) Add(r Row) {
	if len(r.Keys) > 0 {
		groups := groupsOf(r)
		g := s.segmentOf(r, groups)
		for _, add := range groups {
			g.index(add.def)
		}
		g.grow(len(r.Keys) / EntryBytes)
		g.insertAll(r.Keys, groups)
	}
	s.count()
}

// Reserve makes sure that an Add of these keys, after a Drop up to the row window, stays
// within the budget. It reports false if it would not.
func (s *Set) Reserve(r Row, window int64) bool {
	n, groups := len(r.Keys)/EntryBytes, groupsOf(r)
	need, freed := tableBytes(n, mixed(nil, groups)), int64(0)
	for i, g := range s.segments {
		switch {
		case g.last < window:
			freed += g.size()
		case i == len(s.segments)-1:
			need = g.growth(n, mixed(g.defs, groups))
		}
	}
	if need <= s.reserved {
		return true
	}
	if !s.budget.hold(s, s.size()+need, freed) {
		return false
	}
	s.reserved = need
	return true
}

// Window is the first row of the first segment with a row younger than age, or none if
// there is no such segment.
func (s *Set) Window(now time.Time, age time.Duration, none int64) int64 {
	for _, g := range s.segments {
		if now.Sub(g.newest) < age {
			return g.first
		}
	}
	return none
}

// Drop drops the segments whose rows are all before the row window.
func (s *Set) Drop(window int64) {
	n := 0
	for n < len(s.segments) && s.segments[n].last < window {
		s.segments[n] = nil
		n++
	}
	if n > 0 {
		s.segments = s.segments[n:]
		s.count()
	}
}

// Free returns the memory to the budget. The Set must not be used after that.
func (s *Set) Free() { s.budget.free(s) }

// segmentOf returns the segment that the row belongs to, which is the last one. A new one
// begins when the last one covers its part of the window, or has no place for more
// definitions.
func (s *Set) segmentOf(r Row, groups []group) *segment {
	n := len(s.segments)
	if n == 0 || len(s.segments[n-1].defs)+len(groups) > mostDefs || r.Written.Sub(s.segments[n-1].oldest) >= s.span {
		s.seal()
		s.segments = append(s.segments, &segment{first: r.Seq, oldest: r.Written, newest: r.Written})
		n++
	}
	g := s.segments[n-1]
	g.last = r.Seq
	if r.Written.After(g.newest) {
		g.newest = r.Written
	}
	return g
}

// seal shrinks the last segment to its final size.
func (s *Set) seal() {
	n := len(s.segments)
	if n == 0 {
		return
	}
	g := s.segments[n-1]
	g.resize(slotsFor(g.count + len(s.loading)/EntryBytes))
	g.insertAll(s.loading, s.groups)
	s.loading, s.groups = s.loading[:0], s.groups[:0]
}

func (s *Set) size() int64 {
	var n int64
	for _, g := range s.segments {
		n += g.size()
	}
	return n
}

// count updates the budget with the current size.
func (s *Set) count() {
	s.reserved = 0
	s.budget.set(s, s.size())
}
