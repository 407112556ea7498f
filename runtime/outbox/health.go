package outbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// What Health is about.
const (
	aboutDatabase   = "1 database"
	aboutBroker     = "2 broker"
	aboutRefused    = "3 refused"
	aboutUnanswered = "3 unanswered"
	aboutDelete     = "4 delete"
	aboutWaiting    = "4 waiting"
	aboutLeader     = "5 leader"
)

// Health returns nil while the relay works, or another relay leads and sends. Otherwise its error
// says what is holding back events: the database, the broker, events that the broker rejects, or
// has not answered for five seconds, sent events that cannot be deleted, more than MaxWaiting
// waiting events, or another relay, which
// leads although an event has waited for a minute. Health does no I/O, and is accurate to within
// about ten seconds.
func (r *Relay) Health() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []error
	for _, about := range slices.Sorted(maps.Keys(r.fault)) {
		all = append(all, r.fault[about])
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("outbox: %w", errors.Join(all...))
}

// tell sets an error that Health reports; nil clears it. It reports whether that is a change.
func (r *Relay) tell(about string, err error) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.fault[about]
	switch {
	case err == nil:
		delete(r.fault, about)
		delete(r.since, about)
	case r.fault == nil:
		r.fault, r.since = map[string]error{about: err}, map[string]time.Time{about: time.Now()}
	default:
		r.fault[about] = err
		if !known {
			r.since[about] = time.Now()
		}
	}
	return known != (err != nil)
}

// pause returns how long to wait after a number of consecutive failures.
func pause(failures int) time.Duration {
	return min(250*time.Millisecond<<min(failures-1, 8), time.Minute)
}
