package outage

import (
	"log/slog"
	"sync"
	"time"
)

// Condition is why a service as a whole does nothing; nothing while it works.
type Condition struct {
	mu      sync.Mutex
	why     error
	since   time.Time // of why
	said    string
	patient bool   // it is no fault yet
	begun   string // what is no news while it is none
	log     *slog.Logger
	repeat  *time.Timer // says again what was said; nil while nothing is
}

// repeatInterval is how long a fault lasts before the log says so again.
const repeatInterval = time.Minute

// Why is nil while the service works, and else since when it does not.
func (c *Condition) Why() (why error, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why, c.since
}

// Begin keeps why, with which every start begins. It is no fault, nor is what is set next, unless
// it lasts longer than patience. Stop ends the wait.
func (c *Condition) Begin(log *slog.Logger, why error, patience time.Duration) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why, c.since, c.begun, c.patient, c.log = why, time.Now(), why.Error(), true, log
	t := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.patient && c.why != nil {
			c.said = "" // it is news that it is a fault
		}
		c.patient = false
		c.say(log)
	})
	return func() {
		t.Stop()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.rest()
	}
}

// Set keeps why, and logs one line if that is news; without a logger it is none.
func (c *Condition) Set(log *slog.Logger, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == nil || why != nil && why.Error() != c.why.Error() {
		c.since = time.Now()
	}
	c.why = why
	c.patient = c.patient && why != nil
	c.say(log)
}

// End takes why back if it is still that.
func (c *Condition) End(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == why {
		c.why = nil
		c.say(c.log)
	}
}

func (c *Condition) say(log *slog.Logger) {
	text := ""
	if c.why != nil {
		text = c.why.Error()
	}
	if log == nil || text == c.said || c.patient && text == c.begun {
		return
	}
	c.rest()
	switch c.said = text; {
	case text == "":
		log.Info("the service makes progress")
	case c.patient:
		log.Info("the service waits", "reason", text)
	default:
		c.complain(log, text)
	}
}

// complain logs a fault, and again while it lasts.
func (c *Condition) complain(log *slog.Logger, text string) {
	log.Error("the service makes no progress", "reason", text)
	var t *time.Timer
	t = time.AfterFunc(repeatInterval, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.repeat == t {
			c.complain(log, text)
		}
	})
	c.repeat = t
}

// rest ends the repetition.
func (c *Condition) rest() {
	if c.repeat != nil {
		c.repeat.Stop()
		c.repeat = nil
	}
}
