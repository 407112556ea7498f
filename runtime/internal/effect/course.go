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
	// enough is how many failures in a row, of two events at least, say that the other side is away.
	enough = 5
	// repeat is how often at most the log says of an effect that it fails.
	repeat = time.Minute
	// lasting is how long an effect fails, of one event alone, before Health tells.
	lasting = 10 * time.Second
	// unseen is when a task that waited for its turn to try does not any more.
	unseen = 3 * time.Second
)

// course is how an effect fares in this process. It is its circuit breaker, too: while the effect
// fails for all events, one call at a time tries whether the other side is back, and no failure
// counts against its event.
//
// A failure is its event's own fault if calls for other events ended well since it failed first,
// or if no other event fails. The other side is to blame while several events fail, and none was
// proven to be at fault.
type course struct {
	event string
	log   *slog.Logger

	mu     sync.Mutex
	since  time.Time           // of the first failure since a call ended well; zero if it works
	failed int                 // calls since then
	begun  string              // error of the first of them
	last   string              // error of the last
	row    int                 // failures in a row
	fails  map[wire.Key]*fails // events that failed last, and wait for the next call
	next   time.Time           // while it is tripped, no call is made before
	tries  tries
	told   time.Time // last line of the log
	open   bool      // the last line says that it fails
}

// fails are the failures of an event.
type fails struct {
	n     int
	own   bool      // calls for other events ended well since
	left  bool      // nothing more is called for it
	until time.Time // it proves nothing any more then; zero is never
}

// tries are the calls that find out whether the other side is back, one at a time.
type tries struct {
	waiting map[wire.Key]*trying // who waits for a turn
	number  int                  // of the last one
	until   time.Time            // it is given up then; zero if it has ended
}

// trying is a task that may find out whether the other side is back.
type trying struct{ since, seen time.Time }

// admit lets a call for an event begin, which takes timeout at most; leave must be called when it
// has ended. Else it says how long to wait.
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
		return min(early, time.Second) + rand.N(busyPoll), nil // a call that began before may end well
	case now.Before(c.tries.until), !c.turn(key, now):
		return busyPoll, nil
	}
	delete(c.tries.waiting, key)
	c.tries.number++
	mine := c.tries.number
	c.tries.until = now.Add(timeout + time.Second) // a method that ignores its context holds up nobody else
	return 0, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.tries.number == mine {
			c.tries.until = time.Time{}
		}
	}
}

// turn reports whether it is an event's turn to try: that of the one that failed least often,
// and waited longest. So one that always fails keeps no other one from being tried.
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

// times is how often an event failed.
func (c *course) times(key wire.Key) int {
	if f := c.fails[key]; f != nil {
		return f.n
	}
	return 0
}

func (c *course) tripped() bool { return c.row >= enough && c.unproven(wire.Key{}) >= 2 }

// unproven is how many events fail that were not proven to be at fault, but for one.
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

// fare is what a failure means.
type fare struct {
	row  int  // how many calls failed in a row
	away bool // the other side is to blame, as it seems, and not the event
	own  bool // the event was proven to be at fault before
}

// ended hears of a call for an event that ended. often says that failures of the event were
// counted more than once: then it was at fault in another process.
func (c *course) ended(key wire.Key, often bool, err error) fare {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch _, unread := errors.AsType[*unreadError](err); {
	case errors.Is(err, lease.ErrLost), errors.Is(err, verdict.ErrNotImplemented): // which say nothing of the other side
	case err == nil, unread, verdict.SaidPermanent(err): // the other side is there, and may refuse this event
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

// pauses hears when the call that failed last is made again. While the effect is tripped,
// another one may try then, or after the longest pause between tries.
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

// works ends a failure: whatever else fails is at fault itself.
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

// rest forgets the failures so far.
func (c *course) rest() {
	c.since, c.failed, c.next, c.row, c.open = time.Time{}, 0, time.Time{}, 0, false
}

// gone hears that nothing more is called for an event. One that was interrupted says on that the
// other side is away: nobody knows whose fault it was. Any other one says so for a while: in an
// outage the next one fails soon.
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

// failing is how the effect fails; nil if it does not.
func (c *course) failing() *idemtype.FailingEffect {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return nil
	}
	return &idemtype.FailingEffect{Event: c.event, Err: c.last, Since: c.since, Calls: c.failed, Next: c.next}
}

// why is a failure that is no single call's, as Health tells it: always alike until it is over, so
// that it is one line of the log. It is nil if there is none.
func (c *course) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.tripped() && (c.since.IsZero() || time.Since(c.since) < lasting) {
		return nil
	}
	return fmt.Errorf("effect %s has been failing since %s: %s", c.event, c.since.UTC().Format(time.RFC3339), c.begun)
}

// tell tells why the effect has to wait: err, or else that calls fail; nil if it has not.
func (t *task) tell(err error) {
	if err == nil {
		err = t.course.why()
	}
	t.desk.tell(err)
}

// courses are those of a process, by event.
type courses struct {
	mu  sync.Mutex
	all map[string]*course
}

// failing are the effects that fail, by event.
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
