package generator

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/state"
	"github.com/idemgen/idemgen/schema"
)

// keyChanges warns of events of which copies will not be recognised any more (W909), and notes a new
// number of the key definitions.
func (u *unit) keyChanges() {
	for _, id := range state.Identities(u.old, u.service) {
		u.problems.Add(u.identityAt(id), "W909",
			fmt.Sprintf("the identity of event %q changed: %s", id.Event, id.Effect), id.Change+": "+id.Remedy)
	}
	if u.old != nil && u.next.KeyDef != u.old.KeyDef {
		u.note("%s: key definition %d (was %d): roll out without going back: an older version of the service halts on partitions that this one has written\n",
			u.Path, u.next.KeyDef, u.old.KeyDef)
	}
}

// identityAt is where the spec gives an event its identity: its name if that changed, else
// the idempotency_key that holds for it.
func (u *unit) identityAt(id state.Identity) schema.Pos {
	for _, t := range u.parsed.Topics {
		if t.Name.Value != id.Topic {
			continue
		}
		for _, e := range t.Events {
			switch {
			case e.Name.Value != id.Event:
			case id.Renamed:
				return e.Name.Pos
			case e.IdempotencyKey != nil:
				return e.IdempotencyKey.Key
			case t.IdempotencyKey != nil:
				return t.IdempotencyKey.Key
			}
		}
	}
	return schema.Pos{Line: 1, Col: 1, Width: 1}
}
