package outage

import (
	"cmp"
	"log/slog"
	"sync"
	"time"
)

// Condition is why a service as a whole, or a part of it, does nothing; nothing while it works.
type Condition struct {
	Of string // who stands, in the log; "" is the service

	mu    sync.Mutex
	why   error
	said  string
	early string // what is no news yet
	log   *slog.Logger
}

// Why is nil while the service works.
func (c *Condition) Why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// Begin keeps why, with which every start begins: a line is logged only if it lasts. Stop
// ends the wait.
func (c *Condition) Begin(log *slog.Logger, why error, patience time.Duration) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why, c.early, c.log = why, why.Error(), log
	t := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.early = ""
		c.say(log)
	})
	return func() { t.Stop() }
}

// Set keeps why, and logs one line if that is news; without a logger it is none.
func (c *Condition) Set(log *slog.Logger, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = why
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
	if log == nil || text == c.said || text != "" && text == c.early {
		return
	}
	if c.said = text; text != "" {
		log.Error("the "+cmp.Or(c.Of, "service")+" stands", "reason", text)
	} else {
		log.Info("the " + cmp.Or(c.Of, "service") + " goes on")
	}
}
