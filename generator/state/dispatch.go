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
	Topic string
	// ToldBy is where the texts of the type stand; "" if the topic has one event.
	ToldBy   string
	Encoding string // json_string or ""
	Absent   string // the text that means that a patch field is not there, or ""
	Events   []Told
}

// Told is what tells the records of one event.
type Told struct {
	Event     string
	Texts     []string // of the type
	Tombstone bool
}

// Limits are the largest records that the service takes; 0 in a file of an older idemgen, which
// did not keep them.
type Limits struct{ MaxPayload, MaxDepth int64 }

func limits(s *model.Service) Limits {
	return Limits{s.Limits.MaxPayload, int64(s.Limits.MaxDepth)}
}

func dispatch(s *model.Service) (all []Dispatch) {
	for _, t := range s.Topics {
		d := Dispatch{Topic: t.Name, ToldBy: standsAt(t.EventType), Encoding: t.Payload.Encoding, Absent: t.Payload.AbsentMarker}
		for _, e := range t.Events {
			if e.Tombstone || len(e.Types) > 0 {
				d.Events = append(d.Events, Told{e.Name, slices.Clone(e.Types), e.Tombstone})
			}
		}
		if d.ToldBy != "" || d.Encoding != "" || d.Absent != "" || len(d.Events) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// and joins the places in [Dispatch.ToldBy].
const and = " / "

// standsAt is where the texts that tell events apart stand; "" if there are none.
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
