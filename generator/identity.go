package generator

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/state"
	"github.com/idemgen/idemgen/schema"
)

// keyChanges warns of events whose copies will not be recognised any more (W909), and notes
// that older versions halt behind this one.
func (u *unit) keyChanges() {
	for _, id := range state.Identities(u.old, u.service) {
		u.problems.Add(u.identityAt(id), "W909",
			fmt.Sprintf("the identity of event %q changed: %s", eventToday(u.parsed, id.Topic, id.Event), id.Effect), id.Change+": "+id.Remedy)
	}
	switch {
	case u.old == nil || u.next.Identity == u.old.Identity:
	case slices.Contains(u.old.Ahead, u.next.Identity):
		u.note("%s: former sources are gone from also: versions of the service from before they were there halt on partitions that this one has written\n", u.Path)
	default:
		u.note("%s: events have another identity: roll out without going back: an older version of the service halts on partitions that this one has written\n", u.Path)
	}
}

// identityAt is where the spec gives an event its identity: its name if that changed, else
// the idempotency_key that holds for it.
func (u *unit) identityAt(id state.Identity) schema.Pos {
	for _, t := range u.parsed.Topics {
		if firstName(t.Name, t.Doc) != id.Topic {
			continue
		}
		for _, e := range t.Events {
			switch {
			case firstName(e.Name, e.Doc) != id.Event:
			case id.Renamed, id.Took:
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

// firstName is the name under which the state knows a topic or an event.
func firstName(name schema.Text, doc schema.Doc) string {
	if doc.RenamedFrom != nil {
		return doc.RenamedFrom.Value
	}
	return name.Value
}

// topicToday is the name in the spec of a topic that the state speaks of.
func topicToday(spec *schema.Spec, first string) string {
	for _, t := range spec.Topics {
		if firstName(t.Name, t.Doc) == first {
			return t.Name.Value
		}
	}
	return first
}

// eventToday is the name in the spec of an event that the state speaks of.
func eventToday(spec *schema.Spec, topic, first string) string {
	for _, t := range spec.Topics {
		for _, e := range t.Events {
			if firstName(t.Name, t.Doc) == topic && firstName(e.Name, e.Doc) == first {
				return e.Name.Value
			}
		}
	}
	return first
}
