package keyset

import "sync"

// Budget limits the memory of all Sets of a process. If it is exceeded, no key is dropped; instead
// the partition waits. It is safe for concurrent use.
type Budget struct {
	mu    sync.Mutex
	limit int64
	used  int64
}

// NewBudget returns a budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Limit returns the limit in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// Used returns the number of bytes that Sets use.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Fits reports whether there is space for that many more keys.
func (b *Budget) Fits(keys int) bool {
	return b.Used()+tableBytes(keys, false) <= b.limit
}

// hold sets the bytes that s uses; soon is how many of them it will free soon. It reports false if
// s would use more than before, and the budget would exceed its limit.
func (b *Budget) hold(s *Set, bytes, soon int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > s.held && b.used-s.held+bytes-soon > b.limit {
		return false
	}
	b.put(s, bytes)
	return true
}

// set sets the bytes that s uses, whatever the limit.
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
