package generator

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/state"
	"github.com/idemgen/idemgen/schema"
)

// recordChanges warns of changes after which records that are still to be read become dead
// letters (W910).
func (u *unit) recordChanges() {
	for _, c := range state.Unreadable(u.old, u.next, u.service) {
		records, effect := "records", "become dead letters"
		if c.Event != "" {
			records = fmt.Sprintf("records of event %q", eventToday(u.parsed, c.Topic, c.Event))
		} else if c.Topic != "" {
			records = fmt.Sprintf("records of topic %q", topicToday(u.parsed, c.Topic))
		}
		switch {
		case c.Halts:
			effect = "halt their partition"
		case c.Loses:
			effect = "lose values without a word"
		}
		u.problems.Add(u.unreadAt(c.About), "W910", fmt.Sprintf("%s from before this change %s: %s", records, effect, c.Change), c.Remedy)
	}
}

// unreadAt is where the spec declares what changed: the limits, the field, its type, or the
// event; the topic if the event is gone.
func (u *unit) unreadAt(c state.About) schema.Pos {
	at := schema.Pos{Line: 1, Col: 1, Width: 1}
	if c.What == state.Limit && u.parsed.Limits != nil {
		return u.parsed.Limits.Key
	}
	for _, t := range u.parsed.Types {
		if t.Name.Value == c.Type {
			return fieldAt(t.Fields, c.Field, t.Name.Pos)
		}
	}
	for _, t := range u.parsed.Topics {
		if firstName(t.Name, t.Doc) == c.Topic {
			at = unreadInTopic(t, c)
		}
	}
	return at
}

func unreadInTopic(t *schema.Topic, c state.About) schema.Pos {
	if c.What == state.EventType && t.EventType != nil {
		return t.EventType.Key
	}
	if c.What == state.Encoding && t.Payload != nil {
		if t.Payload.Encoding != nil {
			return t.Payload.Encoding.Key
		}
		return t.Payload.Key
	}
	if c.What == state.Payload && t.Payload != nil {
		return t.Payload.Key
	}
	if c.What == state.EventVersion && t.EventVersion != nil {
		return t.EventVersion.Key
	}
	for _, e := range t.Events {
		switch {
		case firstName(e.Name, e.Doc) != c.Event:
		case c.What == state.KeySource && e.IdempotencyKey != nil:
			return e.IdempotencyKey.Key
		case c.What == state.KeySource && t.IdempotencyKey != nil:
			return t.IdempotencyKey.Key
		case c.What == state.Field:
			return fieldAt(e.Fields, c.Field, fieldAt(t.Fields, c.Field, e.Name.Pos))
		default:
			return e.Name.Pos
		}
	}
	return t.Name.Pos
}

// fieldAt is where one of the fields is declared; otherwise if none has the name.
func fieldAt(fields []*schema.Field, name string, otherwise schema.Pos) schema.Pos {
	for _, f := range fields {
		if f.Name.Value == name {
			return f.Name.Pos
		}
	}
	return otherwise
}
