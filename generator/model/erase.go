package model

import "slices"

// Erases reports whether an event of the topic has erase_traces.
func (t *Topic) Erases() bool {
	return slices.ContainsFunc(t.Events, func(e *Event) bool { return e.Erases })
}

// OfRecordKey are the topics of the service whose record key says the same as the topic's: equal
// bytes are one record key there. They are in the order of the spec, with the topic itself; none
// if it declares no record key.
func (s *Service) OfRecordKey(t *Topic) (topics []*Topic) {
	for _, o := range s.Topics {
		if t.RecordKey.same(o.RecordKey) {
			topics = append(topics, o)
		}
	}
	return topics
}

// same reports whether two record keys are written alike: the names of the parts, their types, and
// where they stand.
func (k *RecordKey) same(o *RecordKey) bool {
	return k != nil && o != nil && k.JSON == o.JSON && slices.EqualFunc(k.Parts, o.Parts, func(a, b *KeyPart) bool {
		return a.Name == b.Name && slices.Equal(a.Path, b.Path) &&
			a.Type.Kind == b.Type.Kind && a.Type.Notation == b.Type.Notation && a.Type.Named == b.Type.Named
	})
}

// ReadsRecordKey reports whether the event reads a part of its record key: then a record without
// one is refused.
func (e *Event) ReadsRecordKey() bool {
	return slices.ContainsFunc(e.Fields, func(f *Field) bool { return f.Source.Kind == FromRecordKey || f.SamePart != nil })
}
