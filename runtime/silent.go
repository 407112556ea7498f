package idem

import "time"

// Silent implements [Sink].
func (s *sink) Silent(p Partition, since time.Time) {
	w := (*Consumer)(s).worker(p)
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent = since
}
