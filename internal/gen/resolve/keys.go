package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveKey resolves what makes two records the same event.
func (r *topicReader) resolveKey(e *draft.Event) {
	spec := e.KeySpec()
	if spec == nil {
		if !e.Spec.Broken && !e.Topic.Spec.Broken {
			r.report.Add(e.Spec.Name.Pos, "E407", e.Is()+" has no idempotency_key",
				"for example idempotency_key: {source: {header: Idempotency-Key}, window: 8d} on the topic")
		}
		return
	}
	if len(spec.Source) == 0 {
		return
	}
	k := &model.IdempotencyKey{Offset: spec.Offset()}
	e.Model.Key = k
	if k.Offset {
		return
	}
	if spec.Window != nil {
		k.Window = spec.Window.Value
	}
	k.SamePartition = spec.Copies != nil && spec.Copies.Value == "same_partition"
	k.Space = keySpace(r.consumer, e, spec.Source)
	k.Parts = r.keyParts(e, spec.Source)
	resolveCompare(r.report, e, spec)
}

// maxParts bounds what one claim costs.
const maxParts = 16

// keyParts resolves the parts of a source.
func (r *topicReader) keyParts(e *draft.Event, source []syntax.KeySource) (parts []model.KeySource) {
	seen := map[string]bool{}
	if len(source) > maxParts {
		r.report.Add(source[maxParts].Pos, "E708", fmt.Sprintf("source has %d parts, but at most %d may be", len(source), maxParts), "name what identifies the event, and nothing else")
		return nil
	}
	for _, src := range source {
		part := sourceText(src)
		if seen[part] {
			r.report.Add(src.Pos, "E107", part+" appears twice in source", "one is enough")
		}
		seen[part] = true
		switch {
		case src.Header != nil:
			parts = append(parts, model.KeySource{Header: src.Header.Value})
		case src.Field != nil:
			if f := r.keyField(e, *src.Field); f != nil {
				parts = append(parts, model.KeySource{Field: f})
			}
		}
	}
	return parts
}

// sourceText names a part of source in a message.
func sourceText(src syntax.KeySource) string {
	switch {
	case src.Header != nil:
		return "header " + wording.Quote(src.Header.Value)
	case src.Field != nil:
		return "field " + wording.Quote(src.Field.Value)
	}
	return "record"
}

// keyField looks up a field that is part of the key; nil if there is none or it is not
// fit for a key.
func (r *topicReader) keyField(e *draft.Event, at syntax.Text) *model.Field {
	n := e.Scope.Find(at.Value)
	if n == nil || n.NoPayload {
		if !e.Scope.Open {
			r.failKeyField(e, at)
		}
		return nil
	}
	n.Used = true
	f := n.Field
	switch {
	case f == nil || !checkKeyField(r.report, f, at):
		return nil
	case f.Patch:
		r.report.Add(at.Pos, "E310", fmt.Sprintf("field %s may be missing, so it cannot be part of an idempotency key", wording.Quote(f.Name)), `drop "patch" or choose another field`)
		return nil
	case f.Type.Optional:
		r.report.Add(at.Pos, "E310", fmt.Sprintf("field %s may be missing, so it cannot be part of an idempotency key", wording.Quote(f.Name)), `drop "optional" or choose another field`)
		return nil
	}
	return f
}

// failKeyField reports a key that names a field which the event does not have (E409): at
// the key if it is the event's own or no event of the topic has that field, because then the
// key is misspelt; else at the event, which is what lacks it.
func (r *topicReader) failKeyField(e *draft.Event, at syntax.Text) {
	message := fmt.Sprintf("the idempotency key of %s uses field %s, which the event does not have", e.Is(), wording.Quote(at.Value))
	var fit []string
	for _, n := range e.Scope.Names {
		if n.Field != nil && !n.NoPayload && n.Field.Default == nil && !n.Field.Patch && !n.Field.Type.Optional && typeword.FitsKey(n.Field.Type) && !ofRecord(n.Field) {
			fit = append(fit, n.Text)
		}
	}
	hint := wording.Choices(at.Value, "fields", fit)
	switch {
	case at.Value == "header":
		hint = "the value of a header is written source: {header: <name>}"
	case strings.HasPrefix(at.Value, "$.") || memberPath.MatchString(at.Value):
		hint = "a key names fields: declare one with this path, and name it here"
	case e.Spec.IdempotencyKey != nil:
	case inNoEvent(r.types, e.Topic, at.Value):
		message = fmt.Sprintf("the idempotency key of topic %s uses field %s, which none of its events has", wording.Quote(e.Topic.Spec.Name.Value), wording.Quote(at.Value))
	case e.Model.Tombstone:
		r.report.Add(e.Spec.Name.Pos, "E409", message, "a tombstone has headers and the record key only: give it its own, for example idempotency_key: {source: {record: offset}}")
		return
	default:
		hint = fmt.Sprintf("declare field %s or give the event its own idempotency_key", wording.Quote(at.Value))
		if near := syntax.Closest(at.Value, fit); near != "" {
			hint = fmt.Sprintf("call field %s %s, and keep its name on the wire with path:, or give the event its own idempotency_key", wording.Quote(near), wording.Quote(at.Value))
		}
		r.report.Add(e.Spec.Name.Pos, "E409", message, hint)
		return
	}
	switch {
	case hint == "":
		hint = "declare it under fields, or take the text of a header: source: {header: <name>}"
	case strings.HasPrefix(hint, "fields here"):
		hint = "declare it under fields, or name another one; " + hint
	}
	r.report.Add(at.Pos, "E409", message, hint)
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

// checkKeyField refuses fields that do not identify an event (E310).
func checkKeyField(report *syntax.Diagnostics, f *model.Field, at syntax.Text) bool {
	src := f.Source
	switch {
	case f.Default != nil:
		report.Add(at.Pos, "E310", fmt.Sprintf("field %s has a default, so all events without it would share one idempotency key", wording.Quote(f.Name)), `drop "default" or choose another field`)
	case ofRecord(f):
		report.Add(at.Pos, "E310", fmt.Sprintf("field %s is the record's %s, which differs between two copies of one event", wording.Quote(f.Name), src.Record),
			"name what the producer repeats, or write source: {record: offset}")
	case !typeword.FitsKey(f.Type):
		report.Add(at.Pos, "E310", fmt.Sprintf("%s field cannot be part of an idempotency key: %s", withArticle(typeword.Text(f.Type)), wording.Quote(f.Name)), keyTypes)
	default:
		return true
	}
	return false
}

// ofRecord reports whether a field is what differs between two records of one event.
func ofRecord(f *model.Field) bool {
	return f.Source.Kind == model.FromRecord && slices.Contains([]string{"offset", "partition", "timestamp"}, f.Source.Record)
}
