package effect

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

const (
	// enough is how many failures in a row, of at least two events, mean that the provider is
	// down.
	enough = 5
	// repeat is the shortest interval between two log lines about a failing effect.
	repeat = time.Minute
	// lasting is how long an effect must fail for a single event before Health reports it.
	lasting = 10 * time.Second
	// unseen is the time after which a task that waited for its turn to try counts as gone.
	unseen = 3 * time.Second
)

// course tracks the calls of an effect in this process, and is its circuit breaker: while the
// effect fails for all events, one call at a time tests whether the provider is back, and no
// failure counts against its event.
//
// An event is at fault if calls for other events have succeeded since it first failed, or if no
// other event fails. The provider is at fault while several events fail, and none of them is
// proven to be at fault.
type course struct {
	event string
	log   *slog.Logger

	mu     sync.Mutex
	since  time.Time           // of the first failure since a call succeeded; zero if the effect works
	failed int                 // calls since then
	begun  string              // error of the first of them
	last   string              // error of the last
	row    int                 // failures in a row
	fails  map[wire.Key]*fails // events that failed and wait for the next call
	next   time.Time           // while the breaker is open, no call is made before this time
	tries  tries
	told   time.Time // last line of the log
	open   bool      // the last line reports a failure
}

// fails are the failures of an event.
type fails struct {
	n     int
	own   bool      // calls for other events have succeeded since
	left  bool      // it will not be called again
	until time.Time // it proves nothing after this time; zero means never
}

// tries are the calls that test whether the provider is back, one at a time.
type tries struct {
	waiting map[wire.Key]*trying // tasks that wait for their turn
	number  int                  // of the last one
	until   time.Time            // it counts as ended after this time; zero if it has ended
}

// trying is a task that may test whether the provider is back.
type trying struct{ since, seen time.Time }

// admit permits a call for an event, which takes at most timeout; leave must be called when it has
// ended. If it does not permit the call, it returns how long to wait.
func (c *course) admit(key wire.Key, timeout time.Duration) (wait time.Duration, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.tripped() {
		delete(c.tries.waiting, key)
		return 0, func() {}
	}
	if c.tries.waiting[key] == nil {
		if c.tries.waiting == nil {
			c.tries.waiting = map[wire.Key]*trying{}
		}
		c.tries.waiting[key] = &trying{since: now}
	}
	c.tries.waiting[key].seen = now
	switch early := c.next.Sub(now); {
	case early > 0:
		return min(early, time.Second) + rand.N(busyPoll), nil // a call that began earlier may succeed
	case now.Before(c.tries.until), !c.turn(key, now):
		return busyPoll, nil
	}
	delete(c.tries.waiting, key)
	c.tries.number++
	mine := c.tries.number
	c.tries.until = now.Add(timeout + time.Second) // a method that ignores its context does not hold up others
	return 0, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.tries.number == mine {
			c.tries.until = time.Time{}
		}
	}
}

// turn reports whether it is an event's turn to try: that of the event that has failed the fewest
// times and, among those, has waited longest. So an event that always fails does not block the
// others.
func (c *course) turn(key wire.Key, now time.Time) bool {
	mine := c.tries.waiting[key]
	for k, other := range c.tries.waiting {
		switch n := cmp.Compare(c.times(k), c.times(key)); {
		case now.Sub(other.seen) > unseen:
			delete(c.tries.waiting, k)
		case k != key && (n < 0 || n == 0 && other.since.Before(mine.since)):
			return false
		}
	}
	return true
}

// times returns how many times an event has failed.
func (c *course) times(key wire.Key) int {
	if f := c.fails[key]; f != nil {
		return f.n
	}
	return 0
}

func (c *course) tripped() bool { return c.row >= enough && c.unproven(wire.Key{}) >= 2 }

// unproven returns how many failing events, not counting one, are not proven to be at fault.
func (c *course) unproven(but wire.Key) (n int) {
	now := time.Now()
	for key, f := range c.fails {
		switch {
		case !f.until.IsZero() && !now.Before(f.until):
			delete(c.fails, key)
		case key != but && !f.own:
			n++
		}
	}
	return n
}

// fare describes what a failure means.
type fare struct {
	row  int  // how many calls failed in a row
	away bool // apparently the provider is at fault, not the event
	own  bool // the event was proven to be at fault before
}

// ended records the end of a call for an event. often means that several failures of the event
// were counted: it was then at fault in another process.
func (c *course) ended(key wire.Key, often bool, err error) fare {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch _, unread := errors.AsType[*unreadError](err); {
	case errors.Is(err, lease.ErrLost), errors.Is(err, verdict.ErrNotImplemented): // which say nothing about the provider
	case err == nil, unread, verdict.SaidPermanent(err): // the provider responds, and may reject this event
		c.works(key)
		return fare{}
	default:
		c.failure(key, often, err)
	}
	f := c.fails[key]
	return fare{c.row, c.unproven(key) > 0, f != nil && f.own}
}

// failure counts a failure.
func (c *course) failure(key wire.Key, often bool, err error) {
	f := c.fails[key]
	if f == nil || f.left {
		if c.fails == nil {
			c.fails = map[wire.Key]*fails{}
		}
		f = &fails{own: often}
		c.fails[key] = f
	}
	f.n++
	c.row++
	c.failed++
	c.last = verdict.Storable(err.Error())
	if c.since.IsZero() {
		c.since, c.begun = time.Now(), c.last
	}
}

// pauses records when the call that failed last will be repeated. While the breaker is open,
// another call may try then, or after the longest pause between tries.
func (c *course) pauses(pause, most time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.next = now.Add(min(pause, most))
	if len(c.fails) > 0 && now.Sub(c.told) >= repeat {
		c.told, c.open = now, true
		c.log.Warn("an effect keeps failing", "event", c.event, "err", c.last, "calls", c.failed, "since", c.since.UTC().Format(time.RFC3339), "next", pause.Round(time.Millisecond))
	}
}

// works ends the failure of the effect: events that still fail are at fault themselves.
func (c *course) works(key wire.Key) {
	delete(c.fails, key)
	maps.DeleteFunc(c.fails, func(_ wire.Key, f *fails) bool { return f.left })
	for _, f := range c.fails {
		f.own = true
	}
	if c.open {
		c.log.Info("an effect succeeds again", "event", c.event, "failed_calls", c.failed, "after", time.Since(c.since).Round(time.Millisecond))
	}
	c.rest()
}

// rest drops all failures so far.
func (c *course) rest() {
	c.since, c.failed, c.next, c.row, c.open = time.Time{}, 0, time.Time{}, 0, false
}

// gone records that an event will not be called again. An interrupted event still counts as a sign
// that the provider is down, because it is unknown what was at fault. Any other event counts only
// for a while: in an outage the next one fails soon.
func (c *course) gone(key wire.Key, interrupted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tries.waiting, key)
	f := c.fails[key]
	if f == nil {
		return
	}
	f.left = true
	if interrupted && len(c.fails) < 2*enough {
		return
	}
	f.until = time.Now().Add(lasting)
	for _, other := range c.fails {
		if !other.left {
			return
		}
	}
	c.rest()
}

// failing describes how the effect fails; nil if it does not.
func (c *course) failing() *idemtype.FailingEffect {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return nil
	}
	return &idemtype.FailingEffect{Event: c.event, Err: c.last, Since: c.since, Calls: c.failed, Next: c.next}
}

// why returns a failure that does not concern only a single call, for Health; nil if there is
// none. Its text stays the same until the failure ends, so it is logged once.
func (c *course) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.tripped() && (c.since.IsZero() || time.Since(c.since) < lasting) {
		return nil
	}
	return fmt.Errorf("effect %s has been failing since %s: %s", c.event, c.since.UTC().Format(time.RFC3339), c.begun)
}

// tell reports why the effect must wait: err or, if that is nil, that calls fail.
func (t *task) tell(err error) { t.desk.tell(t, err, false) }

// courses are the courses of a process, by event.
type courses struct {
	mu  sync.Mutex
	all map[string]*course
}

// failing returns the effects that fail, by event.
func (c *courses) failing() (all []idemtype.FailingEffect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, event := range slices.Sorted(maps.Keys(c.all)) {
		if f := c.all[event].failing(); f != nil {
			all = append(all, *f)
		}
	}
	return all
}

func (c *courses) of(event string, log *slog.Logger) *course {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]*course{}
	}
	if c.all[event] == nil {
		c.all[event] = &course{event: event, log: log}
	}
	return c.all[event]
}
