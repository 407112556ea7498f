package evolution

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// calls are the events that get a call: a version without it applies them as if there were none.
func (c *comparison) calls() {
	for _, now := range c.now.Service.Topics {
		old := topicOf(c.old.Service, now.Name)
		if old == nil {
			continue // nobody applied its events
		}
		for _, e := range now.Events {
			for _, o := range old.Events {
				if !takes(old, now, o, e) {
					continue
				}
				if e.Effect != nil && o.Effect == nil {
					c.uncalled(now, e, "effect")
				}
				// With fewer steps, the handler probably does what they did.
				if e.Handle && !o.HasCode() && len(e.Steps) >= len(o.Steps) {
					c.uncalled(now, e, "handle")
				}
			}
		}
	}
}

// uncalled says that an event gets a call.
func (c *comparison) uncalled(t *model.Topic, e *model.Event, key string) {
	c.add(Uncalled, fmt.Sprintf("topics.%s.events.%s.%s is new", t.Name, e.Name, key),
		"the previous version applies events without the call, beside this one or after a rollback, and no replay or duplicate makes up for it; the methods of Handler change",
		firstEnded)
	c.tell("/topics/" + t.Name + "/events/" + e.Name + "/" + key)
}
