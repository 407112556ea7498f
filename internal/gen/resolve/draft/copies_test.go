package draft

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Only where an event's key is of one partition, and the record key is no part of it, do copies
// stay in their partition because the producer promises it.
func TestWhatThePromiseOfTheProducerCarries(t *testing.T) {
	part := &model.KeyPart{Name: "id"}
	field := &model.Field{Name: "id", SamePart: part}
	key := &RecordKey{Model: &model.RecordKey{Parts: []*model.KeyPart{part}}}
	for name, c := range map[string]struct {
		promised, samePartition, has bool
		key                          *RecordKey
		noKey                        bool
		want                         bool
	}{
		"promised":                     {promised: true, samePartition: true, key: key, want: true},
		"not promised":                 {samePartition: true, key: key},
		"in all partitions":            {promised: true, key: key},
		"the record key is part of it": {promised: true, samePartition: true, has: true, key: key},
		"there is no record key":       {promised: true, samePartition: true},
		"the event has no key":         {promised: true, samePartition: true, key: key, noKey: true},
	} {
		e := &Event{Model: &model.Event{Key: &model.IdempotencyKey{SamePartition: c.samePartition}}, Topic: &Topic{Model: &model.Topic{Promises: model.Promises{CopiesKeepKey: c.promised}}, Key: c.key}}
		if c.has {
			e.Model.Key.Parts = []model.KeySource{{Field: field}}
		}
		if c.noKey {
			e.Model.Key = nil
		}
		if got := e.KeptByRecordKey(); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
