package resolve

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// resolveDiscriminator checks how the events of a topic are told apart.
func resolveDiscriminator(report *schema.Diagnostics, t *topic) {
	checkTombstones(report, t)
	var typed []*event
	for _, e := range t.events {
		if !e.model.Tombstone {
			typed = append(typed, e)
		}
	}
	if d := t.spec.EventType; d != nil {
		t.model.EventType = &model.Discriminator{}
		switch {
		case d.Header != nil:
			t.model.EventType.Header = d.Header.Value
		case d.Path != nil && len(d.Path.Members) == 0 && !d.Broken:
			report.Add(d.Path.Pos, "E307", "event_type needs the path of one member, not of the whole value", "for example event_type: {path: type}")
		case d.Path != nil:
			t.model.EventType.Path = slices.Clone(d.Path.Members)
		}
		checkTypeTexts(report, t, typed)
		return
	}
	if t.spec.Broken { // event_type may be what was refused
		return
	}
	where := "say where the type is: event_type: {header: event-type} or {path: type}"
	if len(typed) > 1 {
		report.Add(t.spec.Name.Pos, "E401", fmt.Sprintf("topic %s has %d events but no event_type", quote(t.spec.Name.Value), len(typed)), where)
		return
	}
	if t.spec.Ignore != nil && len(t.spec.Ignore.Items) > 0 {
		report.Add(t.spec.Ignore.Key, "E401", fmt.Sprintf("topic %s ignores types but has no event_type", quote(t.spec.Name.Value)), where)
	}
	for _, e := range typed {
		if e.spec.Type != nil {
			report.Add(e.spec.Type.Key, "E403", fmt.Sprintf("event %s has a type, but topic %s has no event_type", quote(e.spec.Name.Value), quote(t.spec.Name.Value)), "drop it: the topic has one event; or "+where)
		}
	}
}

func checkTombstones(report *schema.Diagnostics, t *topic) {
	var first *event
	for _, e := range t.events {
		if !e.model.Tombstone {
			continue
		}
		if e.spec.Type != nil {
			report.Add(e.spec.Type.Key, "E110", fmt.Sprintf("event %s: a tombstone has no type", quote(e.spec.Name.Value)), "drop one of the two: a record without a value is known by that")
		}
		if first != nil {
			report.Add(e.spec.Tombstone.Key, "E405", fmt.Sprintf("topic %s has two tombstone events: %s and %s",
				quote(t.spec.Name.Value), quote(first.spec.Name.Value), quote(e.spec.Name.Value)), "keep one: nothing tells two records without a value apart")
			continue
		}
		first = e
	}
}

// typeExample is a text that could be the type of an event: order.placed for OrderPlaced.
func typeExample(event string) string {
	var b strings.Builder
	for i, c := range event {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('.')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// checkTypeTexts collects the type texts and reports texts that mean two things.
func checkTypeTexts(report *schema.Diagnostics, t *topic, typed []*event) {
	taken := map[string]*event{}
	for _, e := range typed {
		if e.spec.Type == nil {
			if !e.spec.Broken {
				report.Add(e.spec.Name.Pos, "E402", fmt.Sprintf("event %s lacks \"type\", the text that event_type finds for it", quote(e.spec.Name.Value)),
					"write the text that the producer sends, for example type: "+typeExample(e.spec.Name.Value))
			}
			continue
		}
		for _, text := range e.spec.Type.Items {
			switch first := taken[text.Value]; {
			case first == nil:
				taken[text.Value] = e
				e.model.Types = append(e.model.Types, text.Value)
			case first == e:
				report.Add(text.Pos, "E213", fmt.Sprintf("type %s appears twice in event %s", quote(text.Value), quote(e.spec.Name.Value)), "name it once")
			default:
				report.Add(text.Pos, "E213", fmt.Sprintf("type %s is used by events %s and %s", quote(text.Value), quote(first.spec.Name.Value), quote(e.spec.Name.Value)),
					"give each event type texts of its own, or make them one event")
			}
		}
	}
	if t.spec.Ignore != nil {
		checkIgnore(report, t, t.spec.Ignore.Items, taken)
	}
}

func checkIgnore(report *schema.Diagnostics, t *topic, ignored []schema.Text, taken map[string]*event) {
	for _, text := range ignored {
		if e := taken[text.Value]; e != nil {
			report.Add(text.Pos, "E414", fmt.Sprintf("type %s is ignored and handled by event %s", quote(text.Value), quote(e.spec.Name.Value)), "drop it here, or the event")
			continue
		}
		if slices.Contains(t.model.Ignore, text.Value) {
			report.Add(text.Pos, "E414", fmt.Sprintf("type %s is ignored twice", quote(text.Value)), "name it once")
			continue
		}
		t.model.Ignore = append(t.model.Ignore, text.Value)
	}
}
