package resolve

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// needsPromise reports whether the event is known by a key of one partition that does not
// contain the record key.
func (e *event) needsPromise() bool { return e.model.Key.SamePartition && e.lacksRecordKey() }

// lacksRecordKey reports whether a source of the event's key does not contain the record key.
func (e *event) lacksRecordKey() bool {
	k, lacks := e.model.Key, func(parts []model.KeySource) bool { return len(e.topic.key.lacking(parts)) > 0 }
	return lacks(k.Parts) || slices.ContainsFunc(k.Former, func(f model.FormerKey) bool { return lacks(f.Parts) })
}

// keptByRecordKey reports whether only the producer's promise says that copies of the event
// carry its record key.
func (e *event) keptByRecordKey() bool {
	return e.topic.model.CopiesKeepKey && e.topic.key != nil && e.model.Key != nil && e.needsPromise()
}

// lacking are the parts of the record key that are no part of an idempotency key.
func (k *recordKey) lacking(parts []model.KeySource) (names []string) {
	for _, p := range k.model.Parts {
		has := func(s model.KeySource) bool {
			return s.Field != nil && partOf(model.Value{Kind: model.FieldValue, Field: s.Field}) == p
		}
		if !slices.ContainsFunc(parts, has) {
			names = append(names, p.Name)
		}
	}
	return names
}

// partOf is the record-key part that a value equals, or nil.
func partOf(v model.Value) *model.KeyPart {
	switch {
	case v.Kind != model.FieldValue:
		return nil
	case v.Field.Source.Kind == model.FromRecordKey:
		return v.Field.Source.Part
	}
	return v.Field.SamePart
}
