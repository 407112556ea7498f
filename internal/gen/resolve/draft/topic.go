package draft

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Topic is an entry of topics.
type Topic struct {
	Spec   *syntax.Topic
	Model  *model.Topic
	Types  *Types // as its payloads spell their members
	Key    *RecordKey
	Fields []Field
	Events []*Event
	// OrderUnknown says that assume or record_key was refused, so nothing is concluded
	// about the order of the topic.
	OrderUnknown bool
}

// Complete reports whether no part of the topic was refused.
func (t *Topic) Complete() bool {
	if t.Spec.Broken || t.OrderUnknown || slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Field == nil }) {
		return false
	}
	return !slices.ContainsFunc(t.Events, func(e *Event) bool { return e.Unsure || e.Model.Key == nil })
}

// RecordKey is the record key of a topic with, for each part, the field that events
// read it as. A part that was refused has a nil field.
type RecordKey struct {
	Model *model.RecordKey
	Parts []KeyPart
	Known bool // every part is
}

// KeyPart is a part of a record key. Part and Field are nil if it was refused.
type KeyPart struct {
	Spec  *syntax.KeyPart
	Part  *model.KeyPart
	Field *model.Field
}
