package seedlog

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// topicsPerPattern is how many texts a segment has in a log, beside those that tell events apart.
// All records of a row have the same: a row belongs to one topic, unless its events are told apart
// by their topics.
const topicsPerPattern = 2

// topicName is the topic of the record that is being written.
func topicName(w *writer, e *model.Event) string {
	parts := make([]string, len(w.topic.Pattern))
	for i, p := range w.topic.Pattern {
		switch {
		case p.Segment == "":
			parts[i] = p.Literal
		case tells(w.topic.EventType, p.Segment) && !e.Tombstone:
			parts[i] = w.typeText(e)
		case tells(w.topic.EventVersion, p.Segment) && !e.Tombstone:
			parts[i] = e.Version
		default:
			parts[i] = segmentOf(w, e, p.Segment)
		}
	}
	return strings.Join(parts, ".")
}

// tells reports whether a segment tells events apart.
func tells(by *model.Discriminator, segment string) bool { return by != nil && by.Segment == segment }

// segmentOf is the text of a segment: that of the field that reads it, if one does.
func segmentOf(w *writer, e *model.Event, name string) string {
	for _, f := range e.Fields {
		if f.Source.Kind == model.FromSegment && f.Source.Segment == name {
			return w.text(f.Type, f, f)
		}
	}
	return segment(w, model.FieldType{Kind: model.String}, newClass(), name)
}

// segment is a value that a part of a topic's name can have: one of a few, by the row.
func segment(w *writer, t model.FieldType, c *class, label string) string {
	n := 1 + w.now.row%topicsPerPattern
	if t.Kind == model.Enum {
		return enumSegment(t.Named, n)
	}
	return strings.ReplaceAll(scalar(t, c, cmp.Or(c.label, label), n), " ", "-")
}

var topicPart = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// enumSegment is one of the texts of an enum that a topic's name can hold.
func enumSegment(t *model.Type, n int) string {
	fits := &model.Type{KeepsUnknown: t.KeepsUnknown}
	for _, v := range t.Enum {
		if topicPart.MatchString(v.Text) {
			fits.Enum = append(fits.Enum, v)
		}
	}
	if text := enumText(fits, n); text != "" {
		return text
	}
	return "unlisted" + strconv.Itoa(n)
}
