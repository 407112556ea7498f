package footprint

import "sync"

const (
	mostTexts = 1000  // that a memo keeps
	longest   = 10000 // bytes of a text that is kept
)

// Memo answers [Of] and keeps the answers, for programs that run the same texts many times.
// Texts beyond its bounds are read each time. The zero value is ready, for any goroutine.
type Memo struct {
	mu    sync.RWMutex
	known map[string]Footprint
}

// Of is the function of that name.
func (m *Memo) Of(sql string) Footprint {
	m.mu.RLock()
	f, ok := m.known[sql]
	m.mu.RUnlock()
	if ok {
		return f
	}
	f = Of(sql)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]Footprint{}
	}
	if len(m.known) < mostTexts && len(sql) <= longest {
		m.known[sql] = f
	}
	return f
}
