package resolve

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// resolveDiscriminator checks how the events of a topic are told apart.
func resolveDiscriminator(report *schema.Diagnostics, t *draft.Topic) {
	checkTombstones(report, t)
	var typed []*draft.Event
	for _, e := range t.Events {
		if !e.Model.Tombstone {
			typed = append(typed, e)
		}
	}
	resolveVersion(report, t, typed)
	if t.Spec.EventType != nil {
		t.Model.EventType = discriminator(report, t, t.Spec.EventType, "event_type", "type")
		checkTypeTexts(report, t, typed)
		return
	}
	if t.Spec.Broken { // event_type may be what was refused
		return
	}
	where := "say where the type is: event_type: {header: event-type} or {path: type}"
	if len(typed) > 1 {
		report.Add(t.Spec.Name.Pos, "E401", fmt.Sprintf("topic %s has %d events but no event_type", wording.Quote(t.Spec.Name.Value), len(typed)), where)
		return
	}
	if t.Spec.Ignore != nil && len(t.Spec.Ignore.Items) > 0 {
		report.Add(t.Spec.Ignore.Key, "E401", fmt.Sprintf("topic %s ignores types but has no event_type", wording.Quote(t.Spec.Name.Value)), where)
	}
	for _, e := range typed {
		if e.Spec.Type != nil {
			report.Add(e.Spec.Type.Key, "E403", fmt.Sprintf("event %s has a type, but topic %s has no event_type", wording.Quote(e.Spec.Name.Value), wording.Quote(t.Spec.Name.Value)), "drop it: the topic has one event; or "+where)
		}
	}
}

// discriminator resolves where a text that tells events apart is found; key is the spec's key.
func discriminator(report *schema.Diagnostics, t *draft.Topic, d *schema.Discriminator, key, example string) *model.Discriminator {
	out := &model.Discriminator{}
	switch {
	case d.Header != nil:
		out.Header = d.Header.Value
	case d.Path != nil && len(topicPlace(t.Spec).path(d.Path)) == 0 && !d.Broken:
		report.Add(d.Path.Pos, "E307", key+" needs the path of one member, not of the whole value", "for example "+key+": {path: "+example+"}")
	case d.Path != nil:
		out.Path = topicPlace(t.Spec).path(d.Path)
	}
	return out
}

// resolveVersion checks the second text by which events are told apart (E404).
func resolveVersion(report *schema.Diagnostics, t *draft.Topic, typed []*draft.Event) {
	d, topic := t.Spec.EventVersion, wording.Quote(t.Spec.Name.Value)
	some := false
	for _, e := range typed {
		v := e.Spec.Version
		if v == nil {
			continue
		}
		some = true
		e.Model.Version = v.Value
		if d == nil && !t.Spec.Broken {
			report.Add(v.Key, "E404", fmt.Sprintf("event %s has a version, but topic %s has no event_version", wording.Quote(e.Spec.Name.Value), topic),
				"drop it, or say where the version is: event_version: {header: event-version} or {path: version}")
		}
	}
	if d == nil {
		return
	}
	t.Model.EventVersion = discriminator(report, t, d, "event_version", "version")
	switch {
	case t.Spec.Broken:
	case t.Spec.EventType == nil:
		report.Add(d.Key, "E404", fmt.Sprintf("topic %s has event_version but no event_type: a version tells events of one type apart", topic),
			"say where the type is: event_type: {header: event-type} or {path: type}")
	case !some && !slices.ContainsFunc(typed, func(e *draft.Event) bool { return e.Spec.Broken }):
		report.Add(d.Key, "E404", fmt.Sprintf("topic %s has event_version, but no event has a version", topic),
			"write version: 2 on the events of that version; an event without it takes records without a version")
	}
}

func checkTombstones(report *schema.Diagnostics, t *draft.Topic) {
	var first *draft.Event
	for _, e := range t.Events {
		if !e.Model.Tombstone {
			continue
		}
		if e.Spec.Type != nil {
			report.Add(e.Spec.Type.Key, "E110", fmt.Sprintf("event %s: a tombstone has no type", wording.Quote(e.Spec.Name.Value)), "drop one of the two: a record without a value is known by that")
		}
		if e.Spec.Version != nil {
			report.Add(e.Spec.Version.Key, "E110", fmt.Sprintf("event %s: a tombstone has no version", wording.Quote(e.Spec.Name.Value)), "drop one of the two: a record without a value is known by that")
		}
		if first != nil {
			report.Add(e.Spec.Tombstone.Key, "E405", fmt.Sprintf("topic %s has two tombstone events: %s and %s",
				wording.Quote(t.Spec.Name.Value), wording.Quote(first.Spec.Name.Value), wording.Quote(e.Spec.Name.Value)), "keep one: nothing tells two records without a value apart")
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

// typeVersion is what one event of a topic takes.
type typeVersion struct{ text, version string }

// checkTypeTexts collects the type texts and reports texts that mean two things.
func checkTypeTexts(report *schema.Diagnostics, t *draft.Topic, typed []*draft.Event) {
	taken := map[typeVersion]*draft.Event{}
	handled := map[string]*draft.Event{}
	for _, e := range typed {
		if e.Spec.Type == nil {
			if !e.Spec.Broken {
				report.Add(e.Spec.Name.Pos, "E402", fmt.Sprintf("event %s lacks \"type\", the text that event_type finds for it", wording.Quote(e.Spec.Name.Value)),
					"write the text that the producer sends, for example type: "+typeExample(e.Spec.Name.Value))
			}
			continue
		}
		for _, text := range e.Spec.Type.Items {
			is := typeVersion{text.Value, e.Model.Version}
			switch first := taken[is]; {
			case first == nil:
				taken[is] = e
				if handled[text.Value] == nil {
					handled[text.Value] = e
				}
				e.Model.Types = append(e.Model.Types, text.Value)
			case first == e:
				report.Add(text.Pos, "E213", fmt.Sprintf("type %s appears twice in event %s", wording.Quote(text.Value), wording.Quote(e.Spec.Name.Value)), "name it once")
			default:
				failTypeTwice(report, t, text, is, first, e)
			}
		}
	}
	if t.Spec.Ignore != nil {
		checkIgnore(report, t, t.Spec.Ignore.Items, handled)
	}
}

// failTypeTwice reports a type that two events take (E213).
func failTypeTwice(report *schema.Diagnostics, t *draft.Topic, text schema.Text, is typeVersion, first, e *draft.Event) {
	what, hint := "type "+wording.Quote(is.text), "tell them apart by event_version, or merge them"
	if t.Spec.EventVersion != nil {
		hint = "give each of them a version of its own, or merge them"
		if is.version == "" {
			what += " without a version"
		} else {
			what += " of version " + wording.Quote(is.version)
		}
	}
	report.Add(text.Pos, "E213", fmt.Sprintf("%s is used by events %s and %s", what, wording.Quote(first.Spec.Name.Value), wording.Quote(e.Spec.Name.Value)), hint)
}

func checkIgnore(report *schema.Diagnostics, t *draft.Topic, ignored []schema.Text, taken map[string]*draft.Event) {
	for _, text := range ignored {
		if e := taken[text.Value]; e != nil {
			report.Add(text.Pos, "E414", fmt.Sprintf("type %s is ignored and handled by event %s", wording.Quote(text.Value), wording.Quote(e.Spec.Name.Value)), "drop it here, or the event")
			continue
		}
		if slices.Contains(t.Model.Ignore, text.Value) {
			report.Add(text.Pos, "E414", fmt.Sprintf("type %s is ignored twice", wording.Quote(text.Value)), "name it once")
			continue
		}
		t.Model.Ignore = append(t.Model.Ignore, text.Value)
	}
}
