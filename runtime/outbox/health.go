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
	aboutDatabase        = "1 database"
	aboutBroker          = "2 broker"
	aboutRefused         = "3 refused"
	aboutWaiting         = "4 waiting"
	aboutLettersDatabase = "5 dead letters: database"
	aboutLettersBroker   = "6 dead letters: broker"
	aboutLettersRefused  = "7 dead letters: refused"
	aboutLeader          = "8 leader"
)

// Health is nil while the relay does what it is there for, or another one leads and sends.
// Otherwise it says what holds events or dead letters back: the database, the broker, those that
// the broker refuses, more than MaxWaiting events, or another relay that leads while an event has
// waited for a minute. It needs no database, and is right within ten seconds or so.
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

// tell has Health say an error; nil takes it back. It reports whether that is news.
func (r *Relay) tell(about string, err error) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.fault[about]
	switch {
	case err == nil:
		delete(r.fault, about)
	case r.fault == nil:
		r.fault = map[string]error{about: err}
	default:
		r.fault[about] = err
	}
	return known != (err != nil)
}

// pause is how long to wait behind so many failures in a row.
func pause(failures int) time.Duration {
	return min(250*time.Millisecond<<min(failures-1, 8), time.Minute)
}

// outage is a broker that takes nothing.
type outage struct {
	failures int       // in a row
	since    time.Time // when it began to fail
	resume   time.Time // nothing is sent before
}

// fail counts a failure, and is why nothing is taken. What was on its way together is one.
func (o *outage) fail(what string, err error) error {
	now := time.Now()
	if o.failures == 0 {
		o.since = now
	}
	if !now.Before(o.resume) {
		o.failures++
		o.resume = now.Add(min(pause(o.failures), mostPause))
	}
	return fmt.Errorf("the broker takes no %s since %s: %w", what, o.since.UTC().Format(time.RFC3339), err)
}
