package outbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/process"
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

// Health returns nil while the relay works, or does not run, or another relay leads and sends.
// Otherwise its error says what is holding back events: the database, the broker, events that the
// broker rejects, or has not answered for five seconds, sent events that cannot be deleted, more
// than MaxWaiting waiting events, or another relay, which leads although an event has waited for
// a minute. Health does no I/O, and is accurate to within about ten seconds.
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

// lasting is an error with the time when it began.
type lasting struct {
	what  string
	since time.Time
	err   error
}

func (e *lasting) Error() string {
	return fmt.Sprintf("%s since %s: %v", e.what, e.since.UTC().Format(time.RFC3339), e.err)
}

func (e *lasting) Unwrap() error { return e.err }

// heldError is the error of an event that holds back its aggregate.
type heldError struct {
	event process.Event
	name  string
	err   error
}

func (e *heldError) Error() string { return e.name + ": " + e.err.Error() }

func (e *heldError) Unwrap() error { return e.err }

// rest clears what Health reports: the relay no longer runs.
func (r *Relay) rest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault, r.since = nil, nil
}

// tell sets an error that Health reports; nil clears it. It reports whether that is a change.
func (r *Relay) tell(about string, err error) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.fault[about]
	if err == nil {
		delete(r.fault, about)
		delete(r.since, about)
		return known
	}
	if r.fault == nil {
		r.fault, r.since = map[string]error{}, map[string]time.Time{}
	}
	r.fault[about] = err
	if !known {
		r.since[about] = time.Now()
	}
	return !known
}

// pause returns how long to wait after a number of consecutive failures.
func pause(failures int) time.Duration {
	return min(250*time.Millisecond<<min(failures-1, 8), time.Minute)
}
