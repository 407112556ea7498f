package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// resolveKey resolves what makes two records the same event.
func (r *topicReader) resolveKey(e *event) {
	spec := e.keySpec()
	if spec == nil {
		if !e.spec.Broken && !e.topic.spec.Broken {
			r.report.Add(e.spec.Name.Pos, "E407", e.is()+" has no idempotency_key",
				"for example idempotency_key: {source: {header: Idempotency-Key}, window: 8d} on the topic")
		}
		return
	}
	if len(spec.Source) == 0 {
		return
	}
	k := &model.IdempotencyKey{Offset: spec.Offset()}
	e.model.Key = k
	if k.Offset {
		return
	}
	if spec.Window != nil {
		k.Window = spec.Window.Value
	}
	k.SamePartition = spec.Copies != nil && spec.Copies.Value == "same_partition"
	k.OffsetIfMissing = !spec.Broken && spec.Missing != nil && spec.Missing.Value == "offset"
	k.Space = keySpace(r.consumer, e, reach(spec), spec.Source)
	k.Parts = keyParts(r.report, e, spec.Source, "source", r.keyField)
	r.resolveFormer(e, spec)
	resolveCompare(r.report, e, spec)
}

// keyParts resolves the parts of a source; key is the spec's key that holds them.
func keyParts(report *schema.Diagnostics, e *event, source []schema.KeySource, key string, field func(*event, schema.Text) *model.Field) (parts []model.KeySource) {
	seen := map[string]bool{}
	for _, src := range source {
		part := sourceText(src)
		if seen[part] {
			report.Add(src.Pos, "E107", part+" appears twice in "+key, "one is enough")
		}
		seen[part] = true
		switch {
		case src.Header != nil:
			parts = append(parts, model.KeySource{Header: src.Header.Value})
		case src.Field != nil:
			if f := field(e, *src.Field); f != nil {
				parts = append(parts, model.KeySource{Field: f})
			}
		}
	}
	return parts
}

// sourceText names a part of source in a message.
func sourceText(src schema.KeySource) string {
	switch {
	case src.Header != nil:
		return "header " + quote(src.Header.Value)
	case src.Field != nil:
		return "field " + quote(src.Field.Value)
	}
	return "record"
}

// keySpec is the key that holds for the event: its own, or the topic's.
func (e *event) keySpec() *schema.IdempotencyKey {
	if e.spec.IdempotencyKey != nil {
		return e.spec.IdempotencyKey
	}
	return e.topic.spec.IdempotencyKey
}

// keyField looks up a field that is part of the key; nil if there is none or it is not
// fit for a key.
func (r *topicReader) keyField(e *event, at schema.Text) *model.Field {
	f := r.findKeyField(e, at)
	switch {
	case f == nil:
		return nil
	case f.Type.Optional:
		r.report.Add(at.Pos, "E310", fmt.Sprintf("field %s may be missing, so it cannot be part of an idempotency key", quote(f.Name)), `drop "optional" or choose another field`)
		return nil
	}
	return f
}

// findKeyField looks up a field that is part of the key or of a former one, which may be
// missing.
func (r *topicReader) findKeyField(e *event, at schema.Text) *model.Field {
	n := e.scope.find(at.Value)
	if n == nil || n.noPayload {
		if e.scope.open {
			return nil
		}
		r.failKeyField(e, at)
		return nil
	}
	n.used = true
	if n.field == nil || !checkKeyField(r.report, n.field, at) {
		return nil
	}
	return n.field
}

// failKeyField reports a key that names a field which the event does not have (E409): at
// the key if it is the event's own or no event of the topic has that field, because then the
// key is misspelt; else at the event, which is what lacks it.
func (r *topicReader) failKeyField(e *event, at schema.Text) {
	message := fmt.Sprintf("the idempotency key of %s uses field %s, which the event does not have", e.is(), quote(at.Value))
	var fit []string
	for _, n := range e.scope.names {
		if n.field != nil && !n.noPayload && n.field.Default == nil && !n.field.Type.Optional && fitForKey(n.field.Type) && !ofRecord(n.field) {
			fit = append(fit, n.text)
		}
	}
	hint := choices(at.Value, "fields", fit)
	switch {
	case at.Value == "header":
		hint = "the value of a header is written source: {header: <name>}"
	case strings.HasPrefix(at.Value, "$.") || memberPath.MatchString(at.Value):
		hint = "a key names fields: declare one with this path, and name it here"
	case e.spec.IdempotencyKey != nil:
	case r.types.inNoEvent(e.topic, at.Value):
		message = fmt.Sprintf("the idempotency key of topic %s uses field %s, which none of its events has", quote(e.topic.spec.Name.Value), quote(at.Value))
	case e.model.Tombstone:
		r.report.Add(e.spec.Name.Pos, "E409", message, "a tombstone has headers and the record key only: give it its own idempotency_key")
		return
	default:
		hint = fmt.Sprintf("declare field %s or give the event its own idempotency_key", quote(at.Value))
		if near := schema.Closest(at.Value, fit); near != "" {
			hint = fmt.Sprintf("call field %s %s, and keep its name on the wire with path:, or give the event its own idempotency_key", quote(near), quote(at.Value))
		}
		r.report.Add(e.spec.Name.Pos, "E409", message, hint)
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
func (ts *types) inNoEvent(t *topic, name string) bool {
	declares := func(f *schema.Field) bool { return f.Name.Value == name }
	for _, e := range t.spec.Events {
		if slices.ContainsFunc(e.Fields, declares) || e.Broken {
			return false
		}
		if e.FieldsType != nil && (ts.byName[e.FieldsType.Value] == nil || slices.ContainsFunc(ts.byName[e.FieldsType.Value].spec.Fields, declares)) {
			return false
		}
	}
	part := func(p *schema.KeyPart) bool { return p.Name.Value == name }
	return !slices.ContainsFunc(t.spec.Fields, declares) && (t.spec.RecordKey == nil || !slices.ContainsFunc(t.spec.RecordKey.Parts, part))
}

// checkKeyField refuses fields that do not identify an event (E310).
func checkKeyField(report *schema.Diagnostics, f *model.Field, at schema.Text) bool {
	src := f.Source
	switch {
	case f.Default != nil:
		report.Add(at.Pos, "E310", fmt.Sprintf("field %s has a default, so all events without it would share one idempotency key", quote(f.Name)), `drop "default" or choose another field`)
	case ofRecord(f):
		report.Add(at.Pos, "E310", fmt.Sprintf("field %s is the record's %s, which differs between two copies of one event", quote(f.Name), src.Record),
			"name what the producer repeats, or write source: {record: offset}")
	case !fitForKey(f.Type):
		report.Add(at.Pos, "E310", fmt.Sprintf("%s field cannot be part of an idempotency key: %s", withArticle(typeText(f.Type)), quote(f.Name)), keyTypes)
	default:
		return true
	}
	return false
}

// ofRecord reports whether a field is what differs between two records of one event.
func ofRecord(f *model.Field) bool {
	return f.Source.Kind == model.FromRecord && slices.Contains([]string{"offset", "partition", "timestamp"}, f.Source.Record)
}

// reach is how far unique_per reaches: 3 parts of the space for an event, 2 for a
// topic, 1 for the consumer.
func reach(k *schema.IdempotencyKey) int {
	if k.UniquePer != nil {
		switch k.UniquePer.Value {
		case "topic":
			return 2
		case "consumer":
			return 1
		}
	}
	return 3
}

// partsText writes the parts of a key as [header X, payment_id uuid].
func partsText(key []model.KeySource) string {
	var parts []string
	for _, p := range key {
		if p.Field == nil {
			parts = append(parts, "header "+p.Header)
			continue
		}
		parts = append(parts, p.Field.Name+" "+typeText(p.Field.Type))
	}
	return bracketed(parts)
}
