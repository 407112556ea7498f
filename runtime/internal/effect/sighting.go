package effect

import (
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
)

// sighting is since when, by this process's monotonic clock, a task has seen a lease, a lock or a
// pause unchanged. So a store whose clock jumped can tell a holder that is gone from a live one.
type sighting struct {
	token, mark int64
	since       time.Time
}

// note notes an answer that has just arrived.
func (s *sighting) note(a lease.Answer) {
	if s.token != a.Token || s.mark != a.Mark {
		*s = sighting{a.Token, a.Mark, time.Now()}
	}
}

// seen returns what the next request says of it.
func (s *sighting) seen() lease.Seen {
	if s.mark == 0 {
		return lease.Seen{}
	}
	return lease.Seen{Token: s.token, Mark: s.mark, For: time.Since(s.since)}
}
