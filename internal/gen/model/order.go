package model

import "slices"

// InOrder reports whether all records of a topic that write the step's row come in order, through
// one partition: the topic is ordered by its record key, and the record key is inside the row key.
func (s *Step) InOrder(t *Topic) bool {
	key := s.RowKey()
	var fields []*Field
	for _, a := range key {
		fields = append(fields, a.Value.Field)
	}
	if !t.Ordered || t.RecordKey == nil || !t.OneTopic(fields) {
		return false
	}
	for _, p := range t.RecordKey.Parts {
		if !slices.ContainsFunc(key, func(a Assign) bool { return a.Value.KeyPart() == p }) {
			return false
		}
	}
	return true
}

// RowKey are the columns that find the step's row, with their values.
func (s *Step) RowKey() []Assign {
	if len(s.Where) > 0 {
		return s.Where
	}
	var out []Assign
	for _, c := range s.By {
		if i := slices.IndexFunc(s.Set, func(a Assign) bool { return a.Column == c }); i >= 0 {
			out = append(out, s.Set[i])
		}
	}
	return out
}

// KeyPart returns the record-key part that the value equals, or nil.
func (v Value) KeyPart() *KeyPart {
	switch {
	case v.Kind != FieldValue:
		return nil
	case v.Field.Source.Kind == FromRecordKey:
		return v.Field.Source.Part
	}
	return v.Field.SamePart
}

// Apart reports whether records of one record key may be in several topics of the entry.
func (t *Topic) Apart() bool { return len(t.Kafka) > 1 }

// OneTopic reports whether records that agree in these fields are of one topic, if they have one
// record key.
func (t *Topic) OneTopic(fields []*Field) bool {
	return !t.Apart() || slices.ContainsFunc(fields, func(f *Field) bool { return f != nil && f.Source.Record == "topic" })
}
