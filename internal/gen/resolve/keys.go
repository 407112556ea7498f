package resolve

import (
	"fmt"
	"slices"

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
		r.report.Add(source[maxParts].Pos, "E708", fmt.Sprintf("source has %d parts, but at most %d are allowed", len(source), maxParts), "name only what identifies the event")
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
		r.report.Add(at.Pos, "E310", fmt.Sprintf("field %s may be missing, so it cannot be part of an idempotency key", wording.Quote(f.Name)), `remove "patch" or choose another field`)
		return nil
	case f.Type.Optional:
		r.report.Add(at.Pos, "E310", fmt.Sprintf("field %s may be missing, so it cannot be part of an idempotency key", wording.Quote(f.Name)), `remove "optional" or choose another field`)
		return nil
	}
	return f
}

// checkKeyField refuses fields that do not identify an event (E310).
func checkKeyField(report *syntax.Diagnostics, f *model.Field, at syntax.Text) bool {
	src := f.Source
	switch {
	case f.Default != nil:
		report.Add(at.Pos, "E310", fmt.Sprintf("field %s has a default, so all events without it would share one idempotency key", wording.Quote(f.Name)), `remove "default" or choose another field`)
	case ofRecord(f):
		report.Add(at.Pos, "E310", fmt.Sprintf("field %s is the record's %s, which differs between duplicates of an event", wording.Quote(f.Name), src.Record),
			"name data that the producer repeats, or write source: {record: offset}")
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
