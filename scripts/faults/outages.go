package main

import (
	"slices"
	"sync"
	"time"
)

// outages are the times in which something that the service needs was away.
type outages struct {
	mu  sync.Mutex
	all []outage
}

// outage is one, and a moment after it.
type outage struct{ begin, end time.Time }

// during does something that cuts connections, or has something away.
func (o *outages) during(do func() error) error {
	begin := time.Now()
	err := do()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, outage{begin, time.Now().Add(time.Second)})
	return err
}

// past are the outages until now, in the order of their ends.
func (o *outages) past() []outage {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.all)
}

// recording is how long the result of a call may take until it is recorded, while all is well.
const recording = 3 * time.Second

// recorded is when the result of a call that ended at a time is recorded for sure, if its process
// lives.
func (o *outages) recorded(end time.Time) time.Time {
	at := end.Add(recording)
	for _, away := range o.past() {
		if again := away.end.Add(recording); away.begin.Before(at) && away.end.After(end) && again.After(at) {
			at = again
		}
	}
	return at
}
