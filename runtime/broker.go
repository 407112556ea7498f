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

// End implements [Sink].
func (s *sink) End(p Partition, end int64) {
	if w := (*Consumer)(s).worker(p); w != nil {
		w.lag.End(end, time.Now())
	}
}

// Group implements [Sink].
func (s *sink) Group(why error) {
	c := (*Consumer)(s)
	c.group.Set(c.log, why)
}
