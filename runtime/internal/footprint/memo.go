package footprint

import "sync"

const (
	mostTexts = 1000  // that a memo keeps
	longest   = 10000 // bytes of a text that is kept
)

// Memo answers [None] and keeps the answers, for programs that run the same texts many times.
// Texts beyond its bounds are read each time. The zero value is ready, for any goroutine.
type Memo struct {
	mu    sync.RWMutex
	known map[string]bool
}

// None is the function of that name.
func (m *Memo) None(sql string) bool {
	m.mu.RLock()
	none, ok := m.known[sql]
	m.mu.RUnlock()
	if ok {
		return none
	}
	none = None(sql)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]bool{}
	}
	if len(m.known) < mostTexts && len(sql) <= longest {
		m.known[sql] = none
	}
	return none
}
