package outage

import (
	"log/slog"
	"sync"
)

// Condition is why a service as a whole does nothing; nothing while it works.
type Condition struct {
	mu   sync.Mutex
	why  error
	said string
}

// Why is nil while the service works.
func (c *Condition) Why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// Set keeps why, and logs one line if that is news; without a logger it is none.
func (c *Condition) Set(log *slog.Logger, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = why
	text := ""
	if why != nil {
		text = why.Error()
	}
	if log == nil || text == c.said {
		return
	}
	if c.said = text; why != nil {
		log.Error("the service stands", "reason", text)
	} else {
		log.Info("the service goes on")
	}
}

// End takes why back if it is still that.
func (c *Condition) End(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == why {
		c.why = nil
	}
}
