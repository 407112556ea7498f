package model

import "slices"

// Params returns what travels with the step's statement, in the order of $1, $2, ...: Where,
// then Set, without constants, the transaction time and NULL, which the statement itself holds.
// Behind a patch stands whether it is there. The value that If.Newer compares follows if Set does
// not hold it already, then the id of an event in the outbox. A step without any value sends its
// rows' positions, of no column, so that the statement knows their number.
func (s *Step) Params() []Assign {
	var params []Assign
	for _, assigns := range [][]Assign{s.Where, s.Set} {
		for _, a := range assigns {
			if a.Value.Sent() {
				params = append(params, a)
			}
			if a.Value.Patch() {
				params = append(params, Assign{Column: a.Column, Value: Value{Kind: SentValue, Field: a.Value.Field}})
			}
		}
	}
	if s.If.Newer != nil && !s.sets(s.If.Newer) {
		params = append(params, Assign{Column: s.If.Newer, Value: s.If.Version})
	}
	if id := s.OutboxID(); id != nil {
		params = append(params, Assign{Column: id, Value: Value{Kind: EventIDValue}})
	}
	if len(params) == 0 {
		return []Assign{{Value: Value{Kind: PositionValue}}}
	}
	return params
}

// OutboxID returns the column for the derived id of an event that the step writes into the outbox;
// nil if it does not, or gives the id itself.
func (s *Step) OutboxID() *Column {
	if id := s.Table.EventID(); s.Makes && s.Table.Outbox() && !s.sets(id) {
		return id
	}
	return nil
}

func (s *Step) sets(c *Column) bool {
	return slices.ContainsFunc(s.Set, func(a Assign) bool { return a.Column == c })
}

// Sent reports whether the value comes from the event, not from the statement's text.
func (v Value) Sent() bool {
	return v.Kind == FieldValue || v.Kind == ResultValue || v.Kind == ElemValue || v.Kind == PositionValue || v.Kind == EventIDValue
}

// Patch reports whether the value may be absent, so that its column stays as it is.
func (v Value) Patch() bool { return v.Kind == FieldValue && v.Field.Patch }

// TypeOf returns the type of a sent value of the step.
func (s *Step) TypeOf(v Value) FieldType {
	switch {
	case v.Kind == PositionValue:
		return FieldType{Kind: Int32}
	case v.Kind == EventIDValue:
		return FieldType{Kind: UUID}
	case v.Kind == SentValue:
		return FieldType{Kind: Bool}
	case v.Field != nil:
		t := v.Field.Type
		t.Optional = t.Optional || v.Patch()
		return t
	}
	return *s.Each.Type.Elem
}
