package state

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/definition"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Dispatch tells the event of each record of a topic.
type Dispatch struct {
	Topic string
	// EventType is where the texts of the type are; "" if the topic has one event.
	EventType string
	Events    []Told // all of the topic
}

// Told is what tells the records of one event.
type Told struct {
	Event     string
	Texts     []string // of the type
	Tombstone bool
}

func dispatch(s *model.Service) (all []Dispatch) {
	for _, t := range s.Topics {
		d := Dispatch{Topic: t.Name, EventType: standsAt(t.EventType)}
		for _, e := range t.Events {
			d.Events = append(d.Events, Told{e.Name, slices.Clone(e.Types), e.Tombstone})
		}
		all = append(all, d)
	}
	return all
}

// and joins the places in [Dispatch.EventType].
const and = " / "

// standsAt is where the texts that tell events apart are; "" if there are none.
func standsAt(all []model.Discriminator) string {
	var places []string
	for _, by := range all {
		if by.Header != "" {
			places = append(places, "header "+by.Header)
		} else {
			places = append(places, definition.Path(by.Path))
		}
	}
	return strings.Join(places, and)
}

// told returns what tells the records of an event; the zero value if nothing does.
func (d Dispatch) told(event string) Told {
	if i := slices.IndexFunc(d.Events, func(t Told) bool { return t.Event == event }); i >= 0 {
		return d.Events[i]
	}
	return Told{Event: event}
}

// extends reports whether further texts tell the events of d than those of o.
func (d Dispatch) extends(o Dispatch) bool {
	return o.EventType != "" && strings.HasPrefix(d.EventType, o.EventType+and)
}

// cut is what is left of a type where further texts told the events.
func (d Dispatch) cut(typ string) string {
	n := strings.Count(d.EventType, and) + 1
	texts := strings.SplitN(typ, "/", n+1)
	return strings.Join(texts[:min(n, len(texts))], "/")
}

// ofTopic returns the dispatch of a topic; the zero value if nothing is known of it.
func ofTopic(all []Dispatch, topic string) Dispatch {
	if i := slices.IndexFunc(all, func(d Dispatch) bool { return d.Topic == topic }); i >= 0 {
		return all[i]
	}
	return Dispatch{Topic: topic}
}

// dispatch writes the section events.
func (w *writer) dispatch(all []Dispatch) {
	if len(all) > 0 {
		w.open(0, "events")
	}
	for _, d := range all {
		w.open(1, d.Topic)
		if d.EventType != "" {
			w.entry(2, "event_type", d.EventType)
		}
		for _, e := range d.Events {
			switch {
			case e.Tombstone:
				w.entry(2, e.Event, "tombstone")
			case len(e.Texts) == 0:
				w.entry(2, e.Event, "any")
			}
			w.list(2, e.Event, e.Texts)
		}
	}
}

// dispatch reads the section events.
func (r *reader) dispatch(root *syntax.Node) (all []Dispatch) {
	for _, topic := range r.pairs(root.Get("events")) {
		d := Dispatch{Topic: topic.Key}
		for _, p := range r.pairs(topic.Value) {
			switch {
			case p.Key == "event_type":
				d.EventType = r.text(p.Value)
			case p.Value.Kind == syntax.ListNode:
				d.Events = append(d.Events, Told{Event: p.Key, Texts: r.texts(p.Value)})
			default:
				d.Events = append(d.Events, Told{Event: p.Key, Tombstone: r.text(p.Value) == "tombstone"})
			}
		}
		all = append(all, d)
	}
	return all
}
