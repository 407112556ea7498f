package state

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// Identity is an event whose copies get other keys than before: those that were applied
// are not recognised any more.
type Identity struct {
	Topic, Event string
	Renamed      bool   // Change is about the name of the event or of its topic
	Change       string // what it was and is now
}

// Identities returns the events of s whose identity is not as in old. An event of another
// name counts as renamed if one of the same parts and fields is gone from its topic, or one
// of its name from another topic.
func Identities(old *State, s *model.Service) []Identity {
	if old == nil {
		return nil
	}
	now := keys(s)
	var out []Identity
	for _, t := range s.Topics {
		for _, e := range t.Events {
			n := Key{Topic: t.Name, Event: e.Name}
			if i := slices.IndexFunc(now, n.same); i >= 0 {
				n = now[i]
			} else if e.Key == nil || !e.Key.Offset {
				continue
			}
			if i := slices.IndexFunc(old.Keys, n.same); i >= 0 {
				out = append(out, old.Keys[i].differs(n)...)
			} else if o, ok := formerly(old.Keys, now, n); ok {
				out = append(out, o.differs(n)...)
			}
		}
	}
	return out
}

// formerly returns the key that n most likely had under another name.
func formerly(old, now []Key, n Key) (Key, bool) {
	for _, o := range old {
		alike := slices.Equal(o.Parts, n.Parts) && slices.Equal(o.Compare, n.Compare)
		if alike && (o.Topic == n.Topic) != (o.Event == n.Event) && !slices.ContainsFunc(now, o.same) {
			return o, true
		}
	}
	return Key{}, false
}

// same reports whether two keys are of one event.
func (k Key) same(o Key) bool { return k.Topic == o.Topic && k.Event == o.Event }

// differs says what makes the keys of an event other ones; n without parts is an offset key.
func (k Key) differs(n Key) []Identity {
	id := Identity{Topic: n.Topic, Event: n.Event}
	switch {
	case len(n.Parts) == 0:
		id.Change = "its source was " + list(k.Parts) + " and is {record: offset}"
	case !slices.Equal(k.Parts, n.Parts):
		id.Change = "its source was " + list(k.Parts) + " and is " + list(n.Parts)
	case k.Space == n.Space:
		return nil
	case k.Event != n.Event:
		id.Renamed, id.Change = true, "its name was "+strconv.Quote(k.Event)
	case k.Topic != n.Topic:
		id.Renamed, id.Change = true, "its topic was "+strconv.Quote(k.Topic)
	default:
		id.Change = "its unique_per is another one"
	}
	return []Identity{id}
}

func list(parts []string) string { return "[" + strings.Join(parts, ", ") + "]" }
