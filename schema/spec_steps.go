package schema

// Assigns is a map from column to value, in spec order.
type Assigns struct {
	Items  []Assign
	Key    Pos
	Pos    Pos
	Broken bool // a value of the map was refused and is missing in Items
}

// Assign gives one column a value.
type Assign struct {
	Column Text
	Value  Value
}

// Value is what a step puts into a column or compares with it.
type Value struct {
	Kind ValueKind
	Name string // FieldValue: the field; MemberValue: the member
	// Const is the constant of {value: c}; its Pos is that of c, Key that of "value".
	Const Text
	Pos   Pos // the whole value: the name, or the map {value: c}
}

// ValueKind tells what a Value is.
type ValueKind int

// The forms of a value.
const (
	FieldValue    ValueKind = iota + 1 // a bare name: "total"
	ElementValue                       // bare "each": the element of a list of scalars
	MemberValue                        // "each.sku"
	ConstantValue                      // {value: c}
	NowValue                           // {now: true}
	PositionValue                      // {each: position}
)
