package state

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// UnreadableResults returns the changes since old after which a recorded result of an effect
// cannot be read, as [Unreadable] does for records. Asked the other way round, it tells which
// results a version as old cannot read that runs beside the new one.
func UnreadableResults(old, now *model.Service) []Unread {
	var was, is form
	c := comparison{seen: map[pair]bool{}}
	type both struct {
		at       About
		old, now []wireField
	}
	var all []both
	for _, t := range now.Topics {
		for _, e := range t.Events {
			before := sameEvent(old, t, e)
			if e.Effect == nil || e.Effect.Result == nil || before == nil || before.Effect == nil {
				continue // without a result nothing is read
			}
			at := About{Topic: t.Name, Event: e.Name, Type: e.Effect.Result.Name}
			if before.Effect.Result == nil { // not even a type without required fields takes that
				c.add(Unread{About: at, Change: fmt.Sprintf("it is none, and %q is read", at.Type)})
				continue
			}
			all = append(all, both{at, was.of(before.Effect.Result.Fields), is.of(e.Effect.Result.Fields)})
		}
	}
	c.old, c.now = was, is
	for _, b := range all {
		c.at = b.at
		c.fields(b.old, b.now)
	}
	return c.found
}

// sameEvent finds an event in another version; nil if it is not there.
func sameEvent(s *model.Service, t *model.Topic, e *model.Event) *model.Event {
	for _, topic := range s.Topics {
		if topic.Name != t.Name {
			continue
		}
		for _, event := range topic.Events {
			if event.Name == e.Name {
				return event
			}
		}
	}
	return nil
}
