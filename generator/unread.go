package generator

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/state"
	"github.com/idemgen/idemgen/schema"
)

// recordChanges warns of changes after which records that are still to be read become dead
// letters (W910).
func (u *unit) recordChanges() {
	for _, c := range state.Unreadable(u.old, u.service) {
		u.problems.Add(u.unreadAt(c), "W910",
			fmt.Sprintf("records of event %q from before this change become dead letters: %s", c.Event, c.Change), c.Remedy)
	}
}

// unreadAt is where the spec declares what changed: the field, its type, or the event.
func (u *unit) unreadAt(c state.Unread) schema.Pos {
	at := schema.Pos{Line: 1, Col: 1, Width: 1}
	find := func(fields []*schema.Field) {
		for _, f := range fields {
			if f.Name.Value == c.Field {
				at = f.Name.Pos
			}
		}
	}
	for _, t := range u.parsed.Types {
		if t.Name.Value == c.Type {
			at = t.Name.Pos
			find(t.Fields)
			return at
		}
	}
	for _, t := range u.parsed.Topics {
		if t.Name.Value != c.Topic {
			continue
		}
		for _, e := range t.Events {
			if e.Name.Value == c.Event {
				at = e.Name.Pos
				find(t.Fields)
				find(e.Fields)
			}
		}
	}
	return at
}
