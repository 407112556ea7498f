package outbox

import "time"

// SetMostHeld bounds how many aggregates are held back while others go on.
func (r *Relay) SetMostHeld(n int) { r.most = n }

// SetPace has a relay ask so often, and be waited for so long.
func (r *Relay) SetPace(poll, silence time.Duration) { r.pace.poll, r.pace.silence = poll, silence }

// SetLate has a relay call an answer late after so long.
func (r *Relay) SetLate(after time.Duration) { r.pace.late = after }

// MostCount is how long a count of events is valid.
const MostCount = mostCount

// Age makes the last count of a relay older.
func (r *Relay) Age(by time.Duration) {
	r.count(func(n *numbers) { n.measured = n.measured.Add(-by) })
}
