package effect

import (
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

const (
	// enough is how many failures in a row, of two events at least, say that the other side is away.
	enough = 5
	// repeat is how often at most the log says of an effect that it fails.
	repeat = time.Minute
	// lasting is how long an effect fails, of one event alone, before Health tells.
	lasting = 10 * time.Second
)

// course is how an effect fares in this process. It is its circuit breaker, too: while the effect
// fails for all events, one call at a time tries whether the other side is back, and no failure
// counts against its event.
type course struct {
	event string
	log   *slog.Logger

	mu      sync.Mutex
	since   time.Time // of the first failure since a call ended well; zero if it works
	failed  int       // calls since then
	begun   string    // error of the first of them
	last    string    // error of the last
	next    time.Time // when the call will be made again that failed last; before it none is, if it tripped
	row     int       // failures in a row
	first   wire.Key  // of the event of the first of them
	others  bool      // other events failed in that row, too
	probing bool      // a call is made to find out
	told    time.Time // last line of the log
	open    bool      // the last line says that it fails
}

// admit lets a call begin; leave must be called when it has ended. Else it says how long to wait.
func (c *course) admit() (wait time.Duration, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch early := time.Until(c.next); {
	case !c.tripped():
		return 0, func() {}
	case early > 0:
		return min(early, time.Second) + rand.N(busyPoll), nil // a call that began before may end well
	case c.probing:
		return busyPoll, nil
	}
	c.probing = true
	return 0, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.probing = false
	}
}

func (c *course) tripped() bool { return c.row >= enough && c.others }

// inARow is how many calls failed in a row, and whether they say that the other side is away.
func (c *course) inARow() (n int, away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.row, c.tripped()
}

// ended hears of a call for an event that ended; pause is the time before the next one for it.
func (c *course) ended(key wire.Key, err error, pause time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if err == nil || verdict.SaidPermanent(err) { // the other side is there, and may refuse this event
		c.works(now)
		return
	}
	if c.row++; c.row == 1 {
		c.first = key
	}
	c.others = c.others || key != c.first
	c.failed++
	c.last, c.next = verdict.Storable(err.Error()), now.Add(pause)
	if c.since.IsZero() {
		c.since, c.begun = now, c.last
	}
	if now.Sub(c.told) >= repeat {
		c.told, c.open = now, true
		c.log.Warn("an effect fails", "event", c.event, "err", c.last, "calls", c.failed, "since", c.since.UTC().Format(time.RFC3339), "next", pause.Round(time.Millisecond))
	}
}

// works ends a failure.
func (c *course) works(now time.Time) {
	if c.open {
		c.log.Info("an effect works again", "event", c.event, "failed_calls", c.failed, "after", now.Sub(c.since).Round(time.Millisecond))
	}
	c.since, c.failed, c.next, c.row, c.others, c.open = time.Time{}, 0, time.Time{}, 0, false, false
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
	return fmt.Errorf("effect %s fails since %s: %s", c.event, c.since.UTC().Format(time.RFC3339), c.begun)
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
