package resolve

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// resolveKey resolves what makes two records the same event.
func (r *resolver) resolveKey(e *event) {
	spec := e.keySpec()
	if spec == nil {
		if !e.spec.Broken && !e.topic.spec.Broken {
			r.fail(e.spec.Name.Pos, "E407", e.is()+" has no idempotency_key",
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
	k.Space = keySpace(r.spec.Consumer, e, reach(spec), spec.Source)
	k.Parts = r.keyParts(e, spec.Source, "source", r.keyField)
	r.resolveFormer(e, spec)
	r.resolveCompare(e, spec)
}

// keyParts resolves the parts of a source; key is the spec's key that holds them.
func (r *resolver) keyParts(e *event, source []schema.KeySource, key string, field func(*event, schema.Text) *model.Field) (parts []model.KeySource) {
	seen := map[string]bool{}
	for _, src := range source {
		part := sourceText(src)
		if seen[part] {
			r.fail(src.Pos, "E107", part+" appears twice in "+key, "one is enough")
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
func (r *resolver) keyField(e *event, at schema.Text) *model.Field {
	f := r.findKeyField(e, at)
	switch {
	case f == nil:
		return nil
	case f.Type.Optional:
		r.fail(at.Pos, "E310", fmt.Sprintf("field %s may be missing, so it cannot be part of an idempotency key", quote(f.Name)), `drop "optional" or choose another field`)
		return nil
	}
	return f
}

// findKeyField looks up a field that is part of the key or of a former one, which may be
// missing.
func (r *resolver) findKeyField(e *event, at schema.Text) *model.Field {
	n := e.scope.find(at.Value)
	if n == nil || n.noPayload {
		if e.scope.open {
			return nil
		}
		r.failKeyField(e, at)
		return nil
	}
	n.used = true
	if n.field == nil || !r.checkKeyField(n.field, at) {
		return nil
	}
	return n.field
}

// failKeyField reports a key that names a field which the event does not have (E409): at
// the key if it is the event's own or no event of the topic has that field, because then the
// key is misspelt; else at the event, which is what lacks it.
func (r *resolver) failKeyField(e *event, at schema.Text) {
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
	case r.inNoEvent(e.topic, at.Value):
		message = fmt.Sprintf("the idempotency key of topic %s uses field %s, which none of its events has", quote(e.topic.spec.Name.Value), quote(at.Value))
	case e.model.Tombstone:
		r.fail(e.spec.Name.Pos, "E409", message, "a tombstone has headers and the record key only: give it its own idempotency_key")
		return
	default:
		hint = fmt.Sprintf("declare field %s or give the event its own idempotency_key", quote(at.Value))
		if near := schema.Closest(at.Value, fit); near != "" {
			hint = fmt.Sprintf("call field %s %s, and keep its name on the wire with path:, or give the event its own idempotency_key", quote(near), quote(at.Value))
		}
		r.fail(e.spec.Name.Pos, "E409", message, hint)
		return
	}
	switch {
	case hint == "":
		hint = "declare it under fields, or take the text of a header: source: {header: <name>}"
	case strings.HasPrefix(hint, "fields here"):
		hint = "declare it under fields, or name another one; " + hint
	}
	r.fail(at.Pos, "E409", message, hint)
}

// inNoEvent reports whether no event of a topic declares a field, nor the topic itself.
func (r *resolver) inNoEvent(t *topic, name string) bool {
	declares := func(f *schema.Field) bool { return f.Name.Value == name }
	for _, e := range t.spec.Events {
		if slices.ContainsFunc(e.Fields, declares) || e.Broken {
			return false
		}
		if e.FieldsType != nil && (r.types[e.FieldsType.Value] == nil || slices.ContainsFunc(r.types[e.FieldsType.Value].spec.Fields, declares)) {
			return false
		}
	}
	part := func(p *schema.KeyPart) bool { return p.Name.Value == name }
	return !slices.ContainsFunc(t.spec.Fields, declares) && (t.spec.RecordKey == nil || !slices.ContainsFunc(t.spec.RecordKey.Parts, part))
}

// checkKeyField refuses fields that do not identify an event (E310).
func (r *resolver) checkKeyField(f *model.Field, at schema.Text) bool {
	src := f.Source
	switch {
	case f.Default != nil:
		r.fail(at.Pos, "E310", fmt.Sprintf("field %s has a default, so all events without it would share one idempotency key", quote(f.Name)), `drop "default" or choose another field`)
	case ofRecord(f):
		r.fail(at.Pos, "E310", fmt.Sprintf("field %s is the record's %s, which differs between two copies of one event", quote(f.Name), src.Record),
			"name what the producer repeats, or write source: {record: offset}")
	case !fitForKey(f.Type):
		r.fail(at.Pos, "E310", fmt.Sprintf("%s field cannot be part of an idempotency key: %s", withArticle(typeText(f.Type)), quote(f.Name)), keyTypes)
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

// keySpace separates the keys of consumers, topics, events and sources from each other: the
// first 16 bytes of SHA-256 over the number of names (one byte) and the names, each after
// its length (4 bytes, big endian), then the same for the parts of the source, each "h" or
// "f" and what the header or field is called.
func keySpace(consumer *schema.Text, e *event, names int, source []schema.KeySource) [16]byte {
	if consumer == nil {
		return [16]byte{}
	}
	var data []byte
	list := func(texts ...string) {
		data = append(data, byte(len(texts)))
		for _, t := range texts {
			data = binary.BigEndian.AppendUint32(data, uint32(len(t)))
			data = append(data, t...)
		}
	}
	list([]string{consumer.Value, e.topic.spec.Name.Value, e.spec.Name.Value}[:names]...)
	var parts []string
	for _, src := range source {
		if src.Header != nil {
			parts = append(parts, "h"+src.Header.Value)
		} else if src.Field != nil {
			parts = append(parts, "f"+src.Field.Value)
		}
	}
	list(parts...)
	sum := sha256.Sum256(data)
	return [16]byte(sum[:16])
}
