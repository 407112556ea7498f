package state

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// lineage tells whose records an event reads. What decides is what tells the records (their type,
// or that they have no value), whatever the events are called: a record keeps
// its type when a spec gives it to another event.
type lineage struct {
	old *State
	s   *model.Service
	now []Dispatch
	all []Key // of the service now
}

func lineages(old *State, s *model.Service) lineage {
	return lineage{old: old, s: s, now: dispatch(s), all: keys(s)}
}

// forebear is a key that records of an event had before.
type forebear struct {
	Key
	// Renamed is false if the event of before has the same name, or if it cannot be the same one:
	// it is still there, others took records of it too, or the event took those of others.
	Renamed bool
}

// before returns the keys that the records of an event had: those of its own name first.
func (l lineage) before(n Key) (all []forebear) {
	topic := l.topicBefore(n.Topic)
	for _, o := range l.old.Keys {
		switch {
		case o.Topic != topic:
		case o.Event == n.Event:
			all = slices.Insert(all, 0, forebear{Key: o})
		case !o.Gone && l.reads(o, n):
			all = append(all, forebear{Key: o})
		}
	}
	was := func(e Told) bool { return e.Event == n.Event }
	if len(all) == 1 && !slices.ContainsFunc(ofTopic(l.old.Dispatch, topic).Events, was) && l.heirs(all[0].Key, n.Topic) == 1 {
		all[0].Renamed = true
	}
	return all
}

// heirs is how many events of a topic read records of an event of before.
func (l lineage) heirs(o Key, topic string) (n int) {
	for _, e := range l.events(topic) {
		if e.Name == o.Event || l.reads(o, Key{Topic: topic, Event: e.Name}) {
			n++
		}
	}
	return n
}

// reads reports whether an event reads records of another one of before.
func (l lineage) reads(o, n Key) bool {
	was, is := ofTopic(l.old.Dispatch, o.Topic), ofTopic(l.now, n.Topic)
	before, after := was.told(o.Event), is.told(n.Event)
	switch {
	case before.Tombstone || after.Tombstone:
		return before.Tombstone && after.Tombstone
	case is.EventType == "":
		return true // it is the one event
	case was.EventType == "": // so was the other one: what is left of it is shared out
		return !slices.ContainsFunc(l.events(n.Topic), func(e *model.Event) bool { return e.Name == o.Event })
	}
	return slices.ContainsFunc(before.Texts, func(text string) bool {
		return slices.ContainsFunc(after.Texts, func(now string) bool {
			switch {
			case is.extends(was):
				return was.cut(now) == text
			case was.extends(is):
				return is.cut(text) == now
			}
			return text == now
		})
	})
}

func (l lineage) events(topic string) []*model.Event {
	if i := slices.IndexFunc(l.s.Topics, func(t *model.Topic) bool { return t.Name == topic }); i >= 0 {
		return l.s.Topics[i].Events
	}
	return nil
}

// topicBefore is the name that a topic had: its own, or that of a topic that is gone and had an
// event with the same source, and with the same name or records of the same type.
func (l lineage) topicBefore(topic string) string {
	of := func(topic string) func(Key) bool { return func(k Key) bool { return k.Topic == topic } }
	if len(ofTopic(l.old.Dispatch, topic).Events) > 0 || slices.ContainsFunc(l.old.Keys, of(topic)) {
		return topic
	}
	best, most := topic, 0
	for i, o := range l.old.Keys {
		if o.Gone || l.events(o.Topic) != nil || slices.ContainsFunc(l.old.Keys[:i], of(o.Topic)) {
			continue
		}
		if alike := l.alike(o.Topic, topic); alike > most {
			best, most = o.Topic, alike
		}
	}
	return best
}

// alike is how many events of a topic continue those of one that is gone.
func (l lineage) alike(gone, topic string) (count int) {
	typed := ofTopic(l.now, topic).EventType != ""
	for _, n := range l.all {
		continues := func(o Key) bool {
			return o.Topic == gone && !o.Gone && slices.Equal(o.Parts, n.Parts) && (o.Event == n.Event || typed && l.reads(o, n))
		}
		if n.Topic == topic && slices.ContainsFunc(l.old.Keys, continues) {
			count++
		}
	}
	return count
}
