package keyset

import "sync"

// Budget bounds the memory of all Sets of a process. What it refuses is not forgotten but
// not accepted: the partition waits. It is safe for concurrent use.
type Budget struct {
	mu    sync.Mutex
	limit int64
	used  int64
}

// NewBudget returns a budget of that many bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Limit is the number of bytes that NewBudget was given.
func (b *Budget) Limit() int64 { return b.limit }

// Used is the number of bytes that Sets hold.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Fits reports whether there is room for that many keys more.
func (b *Budget) Fits(keys int) bool {
	return b.Used()+tableBytes(keys, false) <= b.limit
}

// hold lets s hold bytes; soon is how many of them it will free soon. It reports false if s
// would hold more than before, and the budget would be beyond its limit.
func (b *Budget) hold(s *Set, bytes, soon int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > s.held && b.used-s.held+bytes-soon > b.limit {
		return false
	}
	b.put(s, bytes)
	return true
}

// set says what s holds, whatever the limit.
func (b *Budget) set(s *Set, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put(s, bytes)
}

func (b *Budget) put(s *Set, bytes int64) {
	if s.freed {
		return
	}
	b.used += bytes - s.held
	s.held = bytes
}

func (b *Budget) free(s *Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put(s, 0)
	s.freed = true
}
