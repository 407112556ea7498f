package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// missingField is a field that the key of a topic names and none of its events has.
type missingField struct {
	at   syntax.Text
	some bool     // an event was seen that is not a tombstone, which has no fields
	fit  []string // fields of all these events that a key may name
}

// failKeyField reports a key that names a field which the event does not have (E409): at
// the key if it is the event's own or no event of the topic has that field, because then the
// key is misspelt; else at the event, which is what lacks it.
func (r *topicReader) failKeyField(e *draft.Event, at syntax.Text) {
	message := fmt.Sprintf("the idempotency key of %s uses field %s, which the event does not have", e.Is(), wording.Quote(at.Value))
	fit := keyFields(e)
	switch {
	case e.Spec.IdempotencyKey != nil:
		r.failAtKey(at, message, fit)
	case inNoEvent(r.types, e.Topic, at.Value):
		r.missing = missingIn(r.missing, e, at, fit)
	case notAField(at.Value) != "":
		r.failAtKey(at, message, fit)
	case e.Model.Tombstone:
		r.report.Add(e.Spec.Name.Pos, "E409", message, "a tombstone has only headers and a record key: give it a key of its own, for example idempotency_key: {source: {record: offset}}")
	default:
		hint := fmt.Sprintf("declare field %s or give the event its own idempotency_key", wording.Quote(at.Value))
		if near := syntax.Closest(at.Value, fit); near != "" {
			hint = fmt.Sprintf("rename field %s to %s, and read the old name with path:, or give the event its own idempotency_key", wording.Quote(near), wording.Quote(at.Value))
		}
		r.report.Add(e.Spec.Name.Pos, "E409", message, hint)
	}
}

// missingIn adds a field that an event lacks.
func missingIn(all []missingField, e *draft.Event, at syntax.Text, fit []string) []missingField {
	i := slices.IndexFunc(all, func(m missingField) bool { return m.at == at })
	if i < 0 {
		return append(all, missingField{at, !e.Model.Tombstone, fit})
	}
	switch m := &all[i]; {
	case e.Model.Tombstone:
	case !m.some:
		m.some, m.fit = true, fit
	default:
		m.fit = slices.DeleteFunc(m.fit, func(name string) bool { return !slices.Contains(fit, name) })
	}
	return all
}

// failMissing reports each field that the key of a topic names and none of its events has, once.
func (r *topicReader) failMissing(t *draft.Topic) {
	for _, m := range r.missing {
		r.failAtKey(m.at, fmt.Sprintf("the idempotency key of topic %s uses field %s, which none of its events has",
			wording.Quote(t.Spec.Name.Value), wording.Quote(m.at.Value)), m.fit)
	}
	r.missing = nil
}

func (r *topicReader) failAtKey(at syntax.Text, message string, fit []string) {
	hint := notAField(at.Value)
	if hint == "" {
		hint = syntax.Choices(at.Value, "fields", fit)
	}
	switch {
	case hint == "":
		hint = "declare it under fields, or take the text of a header: source: {header: <name>}"
	case strings.HasPrefix(hint, "fields here"):
		hint = "declare it under fields, or name another one; " + hint
	}
	r.report.Add(at.Pos, "E409", message, hint)
}

// notAField is the hint for what is written where a key names a field; "" if it may be one.
func notAField(text string) string {
	switch {
	case text == "header":
		return "for the value of a header, write source: {header: <name>}"
	case text == "offset":
		return "for the record's place in its partition, write source: {record: offset}"
	case strings.HasPrefix(text, "$.") || memberPath.MatchString(text):
		return "a key names fields: declare one with this path, and name it here"
	}
	return ""
}

// keyFields are the fields of an event that a key may name.
func keyFields(e *draft.Event) (fit []string) {
	for _, n := range e.Scope.Names {
		if n.Field != nil && !n.NoPayload && n.Field.Default == nil && !n.Field.Patch && !n.Field.Type.Optional && typeword.FitsKey(n.Field.Type) && !ofRecord(n.Field) {
			fit = append(fit, n.Text)
		}
	}
	return fit
}

// inNoEvent reports whether no event of a topic declares a field, nor the topic itself.
func inNoEvent(ts *draft.Types, t *draft.Topic, name string) bool {
	declares := func(f *syntax.Field) bool { return f.Name.Value == name }
	for _, e := range t.Spec.Events {
		if slices.ContainsFunc(e.Fields, declares) || e.Broken {
			return false
		}
		if e.FieldsType != nil && (ts.Find(e.FieldsType.Value) == nil || slices.ContainsFunc(ts.Find(e.FieldsType.Value).Spec.Fields, declares)) {
			return false
		}
	}
	part := func(p *syntax.KeyPart) bool { return p.Name.Value == name }
	return !slices.ContainsFunc(t.Spec.Fields, declares) && (t.Spec.RecordKey == nil || !slices.ContainsFunc(t.Spec.RecordKey.Parts, part))
}
