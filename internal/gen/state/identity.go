package state

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Identity is an event whose copies are not recognized as they were before: they get other
// keys, or some of the keys are not looked for any more, or not for so long.
type Identity struct {
	Topic, Event string
	Renamed      bool // Change is about the name of the event or of its topic
	Took         bool // it took over records of another event, which it cannot be
	Shorter      bool // the identity is what it was, but keys are known for a shorter time
	Offset       bool // its keys are not stored any more
	// WasTopic and WasEvent are the names of before, the same ones or others.
	WasTopic, WasEvent string
	Effect             string // which copies take effect again
	Change             string // what it was and is now
	Remedy             string // how to avoid it, or when it is safe
}

// Identities returns the events of s whose identity is not as in old: each is compared with all
// that its records were, whatever the events are called.
func Identities(old *State, s *model.Service) []Identity {
	if old == nil {
		return nil
	}
	l := lineages(old, s)
	var out []Identity
	for _, t := range s.Topics {
		for _, e := range t.Events {
			n, stored := find(l.all, Key{Topic: t.Name, Event: e.Name})
			if !stored && (e.Key == nil || !e.Key.Offset) {
				continue
			}
			for _, o := range l.before(n) {
				out = append(out, o.differs(n)...)
			}
		}
	}
	return out
}

// same reports whether two keys are of one event.
func (k Key) same(o Key) bool { return k.Topic == o.Topic && k.Event == o.Event }

// differs says what makes the keys of an event other ones, or puts them elsewhere; n without
// parts is an offset key.
func (k forebear) differs(n Key) []Identity {
	id := Identity{
		Topic: n.Topic, Event: n.Event, WasTopic: k.Topic, WasEvent: k.Event, Remedy: "to avoid it, keep the former one",
		Effect: "a duplicate of an event that was applied before will be applied again",
	}
	if len(k.Parts) == 0 { // its keys were not stored either
		return nil
	}
	shorter := k.forgets(n, id)
	same := slices.Equal(k.Parts, n.Parts)
	reaches := same && k.Space == n.Space
	switch {
	case k.Event != n.Event && !k.Renamed && !(reaches && k.Copies == n.Copies):
		id.Took, id.Change = true, "records of its types were those of event "+strconv.Quote(k.Event)+", whose keys are other ones"
		id.Remedy = "to avoid it, leave the types to that event; it is safe once no duplicate of such a record can arrive (its window is " +
			model.DurationText(k.Window) + ")"
	case len(n.Parts) == 0:
		id.Offset, id.Change = true, "its source was "+list(k.Parts)+" and is {record: offset}"
	case !same:
		id.Change = "its source was " + list(k.Parts) + " and is " + list(n.Parts)
		id.Remedy = "to avoid it, keep the former one; docs/patterns.md describes how to change the key of a live topic"
	case reaches && k.Copies == n.Copies:
		return shorter
	case reaches:
		id.Change = "its copies was " + place(k.Copies) + " and is " + place(n.Copies) + ", which looks for keys elsewhere"
	case k.Event != n.Event:
		id.Renamed, id.Change, id.Remedy = true, "its name was "+strconv.Quote(k.Event), "to avoid it, call it "+k.Event+" again: type says what producers call it"
	default:
		id.Renamed, id.Change, id.Remedy = true, "its topic was "+strconv.Quote(k.Topic), "to avoid it, call the entry "+k.Topic+" again: name says what Kafka calls the topic"
	}
	if id.Took || id.Offset { // the window is of other keys, or there is none
		return []Identity{id}
	}
	return append([]Identity{id}, shorter...)
}

// forgets says which copies are known no more although the event's identity is what it was;
// id is the rest of what is said.
func (k Key) forgets(n Key, id Identity) []Identity {
	if n.Window >= k.Window {
		return nil
	}
	id.Shorter, id.Effect = true, "duplicates older than the new window count as new events"
	id.Change = "it was " + model.DurationText(k.Window) + " and is " + model.DurationText(n.Window)
	return []Identity{id}
}

func place(copies string) string { return cmp.Or(copies, "anywhere") }

func list(parts []string) string { return "[" + strings.Join(parts, ", ") + "]" }
