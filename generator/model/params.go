package model

import "slices"

// Params returns what travels with the step's statement, in the order of $1, $2, ...: Where,
// then Set, without constants, the transaction time and NULL, which the statement itself holds.
// The value that
// If.Newer compares follows if Set does not hold it already. The number by which steps that depend
// on one another know their rows comes last. A step without any value
// sends its rows' positions, of no column, so that the statement knows their number.
func (s *Step) Params() []Assign {
	var params []Assign
	for _, assigns := range [][]Assign{s.Where, s.Set} {
		for _, a := range assigns {
			if a.Value.Sent() {
				params = append(params, a)
			}
		}
	}
	if s.If.Newer != nil && !s.sets(s.If.Newer) {
		params = append(params, Assign{Column: s.If.Newer, Value: s.If.Version})
	}
	if s.Replaces {
		params = append(params, Assign{Value: Value{Kind: RowValue}})
	}
	switch {
	case s.Tells:
		params = append(params, Assign{Value: Value{Kind: NumberValue}})
	case s.Asks:
		params = append(params, Assign{Value: Value{Kind: OfValue}})
	}
	if len(params) == 0 {
		return []Assign{{Value: Value{Kind: PositionValue}}}
	}
	return params
}

func (s *Step) sets(c *Column) bool {
	return slices.ContainsFunc(s.Set, func(a Assign) bool { return a.Column == c })
}

// Sent reports whether the value comes from the event, not from the statement's text.
func (v Value) Sent() bool {
	return v.Kind == FieldValue || v.Kind == ElemValue || v.Kind == PositionValue
}

// TypeOf returns the type of a sent value of the step.
func (s *Step) TypeOf(v Value) FieldType {
	switch {
	case v.Kind == PositionValue, v.Kind == NumberValue, v.Kind == OfValue:
		return FieldType{Kind: Int32}
	case v.Kind == RowValue:
		return FieldType{Kind: Bool}
	case v.Field != nil:
		return v.Field.Type
	}
	return *s.Each.Type.Elem
}
