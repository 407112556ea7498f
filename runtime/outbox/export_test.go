package outbox

import (
	"cmp"
	"time"
)

// Runner is a relay that runs with other settings.
type Runner = runner

// NewRunner returns a relay with the usual settings.
func NewRunner(r *Relay) *Runner { return newRunner(r) }

// SetMostHeld bounds how many aggregates are held back while others continue.
func (r *runner) SetMostHeld(n int) { r.most = n }

// SetPace sets how often a relay asks, and how long it is waited for; 0 keeps the default.
func (r *runner) SetPace(poll, silence time.Duration) {
	r.pace.poll, r.pace.silence = cmp.Or(poll, r.pace.poll), cmp.Or(silence, r.pace.silence)
}

// SetLate makes a relay call an answer late after so long.
func (r *runner) SetLate(after time.Duration) { r.pace.late = after }

// SetAgain makes a leader wait so long until it looks whether there is more to do.
func (r *runner) SetAgain(after time.Duration) { r.pace.again = after }

// MostCount is how long a count of events is valid.
const MostCount = mostCount

// Age makes the last count of a relay older.
func (r *Relay) Age(by time.Duration) {
	r.count(func(n *numbers) { n.measured = n.measured.Add(-by) })
}
