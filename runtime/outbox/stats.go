package outbox

import "time"

// Stats describes what a relay has done since it was created, and the state of the table.
type Stats struct {
	// Leading reports whether this relay currently sends the events. Only one of the relays does.
	Leading bool
	// Counted reports whether Waiting and Oldest are known. They are not until the relay has counted
	// the events, and if it could not do so in the last minute.
	Counted bool
	// Waiting is the number of events in the table. The relay that leads counts them every three
	// seconds, the others every ten. They count up to MaxWaiting + 1.
	Waiting int
	// Oldest is how long the first of them has waited.
	Oldest time.Duration
	// HeldBack is the number of aggregates that wait because their first event is rejected or
	// cannot be sent.
	HeldBack int
	// Sent is the number of events that the broker has acknowledged, and Refused how often it
	// rejected one.
	Sent, Refused int64
}

// Stats returns statistics about the relay. It does no I/O.
func (r *Relay) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, age := r.is.Stats, time.Since(r.is.measured)
	switch s.Counted = age < mostCount; {
	case !s.Counted:
		s.Waiting, s.Oldest = 0, 0
	case s.Waiting > 0:
		s.Oldest += age
	}
	return s
}

// mostCount is how long a count is valid.
const mostCount = time.Minute

// numbers are what Stats says.
type numbers struct {
	Stats
	measured time.Time // Waiting and Oldest
}

// measured is when the table was looked at last.
func (r *Relay) measured() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.is.measured
}

// count changes numbers.
func (r *Relay) count(change func(*numbers)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.is)
}

// wait takes how many events wait, and how long the first of them has.
func (n *numbers) wait(waiting int, oldest time.Duration) {
	n.Waiting, n.Oldest, n.measured = waiting, max(oldest, 0), time.Now()
}

// retire is for a relay that does not lead any more. It looks at the table anew.
func (n *numbers) retire() {
	n.Leading, n.HeldBack = false, 0
	n.Waiting, n.Oldest, n.measured = 0, 0, time.Time{}
}
