package outbox

import "time"

// Stats are what a relay has done since it was made, and how the table stands.
type Stats struct {
	// Leading is whether this relay sends the events now. One of all relays does.
	Leading bool
	// Waiting is how many events are in the table. The relay that leads counts them every three
	// seconds, others every ten, and no further than to one more than MaxWaiting.
	Waiting int
	// Oldest is how long the first of them has waited.
	Oldest time.Duration
	// HeldBack is how many aggregates wait because the broker refuses their first event.
	HeldBack int
	// Sent is how many events the broker has acknowledged, and Refused how often it refused one.
	Sent, Refused int64
	// LettersSent is how many dead letters the broker has acknowledged, and LettersHeld how many
	// it refuses.
	LettersSent int64
	LettersHeld int
}

// Stats says how the relay does. It needs no database.
func (r *Relay) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.is.Stats
	if s.Waiting > 0 {
		s.Oldest += time.Since(r.is.measured)
	}
	return s
}

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
