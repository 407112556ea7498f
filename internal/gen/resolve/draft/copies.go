package draft

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// NeedsPromise reports whether the event is known by a key of one partition that does not
// contain the record key.
func (e *Event) NeedsPromise() bool { return e.Model.Key.SamePartition && e.LacksRecordKey() }

// LacksRecordKey reports whether the source of the event's key does not contain the record key.
func (e *Event) LacksRecordKey() bool {
	return len(e.Topic.Key.Lacking(e.Model.Key.Parts)) > 0
}

// KeptByRecordKey reports whether only the producer's promise says that copies of the event
// carry its record key.
func (e *Event) KeptByRecordKey() bool {
	return e.Topic.Model.CopiesKeepKey && e.Topic.Key != nil && e.Model.Key != nil && e.NeedsPromise()
}

// Lacking are the parts of the record key that are no part of an idempotency key.
func (k *RecordKey) Lacking(parts []model.KeySource) (names []string) {
	for _, p := range k.Model.Parts {
		has := func(s model.KeySource) bool {
			return s.Field != nil && model.Value{Kind: model.FieldValue, Field: s.Field}.KeyPart() == p
		}
		if !slices.ContainsFunc(parts, has) {
			names = append(names, p.Name)
		}
	}
	return names
}
