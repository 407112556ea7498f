package state

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/definition"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// Dispatch tells the event of each record of a topic.
type Dispatch struct {
	Topic  string
	ToldBy string // where the text of the type stands; "" if the topic has one event
	// VersionBy is where the version stands; "" if the type alone tells the event.
	VersionBy string
	Encoding  string // json_string or ""
	Absent    string // the text that means that a patch field is not there, or ""
	Events    []Told
}

// Told is what tells the records of one event.
type Told struct {
	Event     string
	Texts     []string // of the type, each with its version: "order.placed version 2"
	Tombstone bool
}

const ofVersion = " version "

// typeOf is the type in a text of [Told].
func typeOf(text string) string {
	typ, _, _ := strings.Cut(text, ofVersion)
	return typ
}

// Limits are the largest records that the service takes; 0 in a file of an older idemgen, which
// did not keep them.
type Limits struct{ MaxPayload, MaxDepth int64 }

func limits(s *model.Service) Limits {
	return Limits{s.Limits.MaxPayload, int64(s.Limits.MaxDepth)}
}

func dispatch(s *model.Service) (all []Dispatch) {
	for _, t := range s.Topics {
		d := Dispatch{Topic: t.FirstName(), ToldBy: standsAt(t.EventType), VersionBy: standsAt(t.EventVersion), Encoding: t.Payload.Encoding, Absent: t.Payload.AbsentMarker}
		for _, e := range t.Events {
			if e.Tombstone || len(e.Types) > 0 {
				d.Events = append(d.Events, Told{e.FirstName(), typeTexts(e), e.Tombstone})
			}
		}
		if d.ToldBy != "" || d.Encoding != "" || d.Absent != "" || len(d.Events) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// standsAt is where a text that tells events apart stands; "" if there is none.
func standsAt(by *model.Discriminator) string {
	switch {
	case by == nil:
		return ""
	case by.Header != "":
		return "header " + by.Header
	}
	return definition.Path(by.Path)
}

// typeTexts are those of an event's types, with its version.
func typeTexts(e *model.Event) []string {
	all := slices.Clone(e.Types)
	for i := range all {
		if e.Version != "" {
			all[i] += ofVersion + e.Version
		}
	}
	return all
}

// told returns what tells the records of an event; the zero value if nothing does.
func (d Dispatch) told(event string) Told {
	if i := slices.IndexFunc(d.Events, func(t Told) bool { return t.Event == event }); i >= 0 {
		return d.Events[i]
	}
	return Told{Event: event}
}

// ofTopic returns the dispatch of a topic; the zero value if nothing is known of it.
func ofTopic(all []Dispatch, topic string) Dispatch {
	if i := slices.IndexFunc(all, func(d Dispatch) bool { return d.Topic == topic }); i >= 0 {
		return all[i]
	}
	return Dispatch{Topic: topic}
}

// dispatch writes the section event_types.
func (w *writer) dispatch(all []Dispatch) {
	if len(all) > 0 {
		w.open(0, "event_types")
	}
	for _, d := range all {
		w.open(1, d.Topic)
		if d.Encoding != "" {
			w.entry(2, "encoding", d.Encoding)
		}
		if d.Absent != "" {
			w.entry(2, "absent_marker", d.Absent)
		}
		if d.ToldBy != "" {
			w.entry(2, "told_by", d.ToldBy)
		}
		if d.VersionBy != "" {
			w.entry(2, "version_by", d.VersionBy)
		}
		for _, e := range d.Events {
			if e.Tombstone {
				w.entry(2, e.Event, "tombstone")
			}
			w.list(2, e.Event, e.Texts)
		}
	}
}

func (w *writer) limits(l Limits) {
	if l == (Limits{}) {
		return
	}
	w.open(0, "limits")
	w.entry(1, "max_payload", strconv.FormatInt(l.MaxPayload, 10))
	w.entry(1, "max_depth", strconv.FormatInt(l.MaxDepth, 10))
}

// dispatch reads the section event_types.
func (r *reader) dispatch(root *schema.Node) (all []Dispatch) {
	for _, topic := range r.pairs(root.Get("event_types")) {
		d := Dispatch{Topic: topic.Key}
		for _, p := range r.pairs(topic.Value) {
			switch {
			case p.Key == "told_by":
				d.ToldBy = r.text(p.Value)
			case p.Key == "encoding":
				d.Encoding = r.text(p.Value)
			case p.Key == "absent_marker":
				d.Absent = r.text(p.Value)
			case p.Key == "version_by":
				d.VersionBy = r.text(p.Value)
			case p.Value.Kind == schema.ListNode:
				d.Events = append(d.Events, Told{Event: p.Key, Texts: r.texts(p.Value)})
			default:
				d.Events = append(d.Events, Told{Event: p.Key, Tombstone: r.text(p.Value) == "tombstone"})
			}
		}
		all = append(all, d)
	}
	return all
}

func (r *reader) limits(n *schema.Node) (l Limits) {
	if n == nil {
		return l
	}
	number := func(name string) int64 {
		text := r.text(n.Get(name))
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			r.fail(n, "a number for "+name)
		}
		return v
	}
	return Limits{number("max_payload"), number("max_depth")}
}
