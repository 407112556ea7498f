package resolve

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveDiscriminator checks how the events of a topic are told apart.
func resolveDiscriminator(report *syntax.Diagnostics, t *draft.Topic) {
	checkTombstones(report, t)
	var typed []*draft.Event
	for _, e := range t.Events {
		if !e.Model.Tombstone {
			typed = append(typed, e)
		}
	}
	if t.Spec.EventType != nil {
		resolveEventType(report, t)
		checkTypeTexts(report, t, typed)
		return
	}
	if t.Spec.Broken { // event_type may be what was refused
		return
	}
	where := "declare where the type is: event_type: {header: event-type} or {path: type}"
	if len(typed) > 1 {
		report.Add(t.Spec.Name.Pos, "E401", fmt.Sprintf("topic %s has %d events but no event_type", wording.Quote(t.Spec.Name.Value), len(typed)), where)
		return
	}
	if t.Spec.Ignore != nil && len(t.Spec.Ignore.Items) > 0 {
		report.Add(t.Spec.Ignore.Key, "E401", fmt.Sprintf("topic %s ignores types but has no event_type", wording.Quote(t.Spec.Name.Value)), where)
	}
	for _, e := range typed {
		if e.Spec.Type != nil {
			report.Add(e.Spec.Type.Key, "E403", fmt.Sprintf("event %s has a type, but topic %s has no event_type", wording.Quote(e.Spec.Name.Value), wording.Quote(t.Spec.Name.Value)), "remove it: the topic has one event; or "+where)
		}
	}
}

// resolveEventType resolves where the texts that tell events apart are found.
func resolveEventType(report *syntax.Diagnostics, t *draft.Topic) {
	for _, d := range t.Spec.EventType {
		var out model.Discriminator
		switch {
		case d.Header != nil:
			out.Header = d.Header.Value
		case d.Path != nil:
			out.Path = topicPlace(t.Spec).path(d.Path)
			if len(out.Path) == 0 && !d.Broken {
				report.Add(d.Path.Pos, "E307", "event_type needs the path of one member, not of the whole value", "for example event_type: {path: type}")
			}
		}
		t.Model.EventType = append(t.Model.EventType, out)
	}
}

func checkTombstones(report *syntax.Diagnostics, t *draft.Topic) {
	var first *draft.Event
	for _, e := range t.Events {
		if !e.Model.Tombstone {
			continue
		}
		if e.Spec.Type != nil {
			report.Add(e.Spec.Type.Key, "E110", fmt.Sprintf("event %s: a tombstone has no type", wording.Quote(e.Spec.Name.Value)), "remove one of the two: a tombstone is recognized by its missing value")
		}
		if first != nil {
			report.Add(e.Spec.Tombstone.Key, "E405", fmt.Sprintf("topic %s has two tombstone events: %s and %s",
				wording.Quote(t.Spec.Name.Value), wording.Quote(first.Spec.Name.Value), wording.Quote(e.Spec.Name.Value)), "keep one: two records without a value cannot be told apart")
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
func checkTypeTexts(report *syntax.Diagnostics, t *draft.Topic, typed []*draft.Event) {
	taken := map[string]*draft.Event{}
	for _, e := range typed {
		if e.Spec.Type == nil {
			if !e.Spec.Broken {
				report.Add(e.Spec.Name.Pos, "E402", fmt.Sprintf("event %s lacks \"type\", the text by which event_type finds it", wording.Quote(e.Spec.Name.Value)),
					"write the text that the producer sends, for example type: "+typeExample(e.Spec.Name.Value))
			}
			continue
		}
		for _, text := range e.Spec.Type.Items {
			switch first := taken[text.Value]; {
			case first == nil:
				taken[text.Value] = e
				e.Model.Types = append(e.Model.Types, text.Value)
			case first == e:
				report.Add(text.Pos, "E213", fmt.Sprintf("type %s appears twice in event %s", wording.Quote(text.Value), wording.Quote(e.Spec.Name.Value)), "name it once")
			default:
				report.Add(text.Pos, "E213", fmt.Sprintf("type %s is used by events %s and %s", wording.Quote(text.Value), wording.Quote(first.Spec.Name.Value), wording.Quote(e.Spec.Name.Value)),
					"tell them apart by another text, event_type: [{header: event-type}, {header: version}], or merge them")
			}
		}
	}
	if t.Spec.Ignore != nil {
		checkIgnore(report, t, t.Spec.Ignore.Items, taken)
	}
}

func checkIgnore(report *syntax.Diagnostics, t *draft.Topic, ignored []syntax.Text, taken map[string]*draft.Event) {
	for _, text := range ignored {
		if e := taken[text.Value]; e != nil {
			report.Add(text.Pos, "E414", fmt.Sprintf("type %s is ignored and handled by event %s", wording.Quote(text.Value), wording.Quote(e.Spec.Name.Value)), "remove it here, or remove the event")
			continue
		}
		if slices.Contains(t.Model.Ignore, text.Value) {
			report.Add(text.Pos, "E414", fmt.Sprintf("type %s is ignored twice", wording.Quote(text.Value)), "name it once")
			continue
		}
		t.Model.Ignore = append(t.Model.Ignore, text.Value)
	}
}
