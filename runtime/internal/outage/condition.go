package outage

import (
	"log/slog"
	"sync"
	"time"
)

// Condition is why a service as a whole makes no progress. It is empty while the service works.
type Condition struct {
	mu      sync.Mutex
	why     error
	since   time.Time // of why
	said    string
	patient bool   // a reason that usually ends by itself is not yet a fault
	begun   string // the reason that is not logged until it becomes a fault
	log     *slog.Logger
	repeat  *time.Timer // repeats the log line; nil while there is none
}

// repeatInterval is the interval at which a lasting fault is logged again.
const repeatInterval = time.Minute

// Why returns since when the service does not work, and the reason, which is nil while it works.
func (c *Condition) Why() (since time.Time, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since, c.why
}

// Begin sets why as the initial reason of a start. Neither it nor another reason that usually ends
// by itself is a fault, unless it lasts longer than patience. stop ends the wait.
func (c *Condition) Begin(log *slog.Logger, why error, patience time.Duration) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why, c.since, c.begun, c.patient, c.log = why, time.Now(), why.Error(), true, log
	t := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.patient && c.why != nil && ReasonOf(c.why).Waits {
			c.said = "" // it is now logged as a fault
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

// Set sets why, and logs one line if it has changed. A nil logger means that the service does not
// run: nothing is logged, and no earlier line is repeated.
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

// End clears the reason if it still is why.
func (c *Condition) End(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == why {
		c.why = nil
		c.say(c.log)
	}
}

func (c *Condition) say(log *slog.Logger) {
	if log == nil {
		c.rest()
		return
	}
	text, waits := "", false
	if c.why != nil {
		text, waits = c.why.Error(), c.patient && ReasonOf(c.why).Waits
	}
	if text == c.said || waits && c.said == "" && text == c.begun {
		return
	}
	c.rest()
	switch c.said = text; {
	case text == "":
		log.Info("the service makes progress")
	case waits:
		log.Info("the service waits", "reason", text)
	default:
		c.complain(log, text, ReasonOf(c.why).Do)
	}
}

// complain logs a fault, and repeats the line while it lasts.
func (c *Condition) complain(log *slog.Logger, text, do string) {
	log.Error("the service makes no progress", "reason", text, "do", do)
	var t *time.Timer
	t = time.AfterFunc(repeatInterval, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.repeat == t {
			c.complain(log, text, do)
		}
	})
	c.repeat = t
}

// rest stops repeating, and forgets what was said.
func (c *Condition) rest() {
	c.said = ""
	if c.repeat != nil {
		c.repeat.Stop()
		c.repeat = nil
	}
}
