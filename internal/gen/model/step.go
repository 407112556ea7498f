package model

// Step is one step of an event: one row (or one per element of Each) of one table. Its own fields
// say what the spec says; Facts say what follows from it.
type Step struct {
	Event  *Event
	Verb   string // as the spec has it; only the verb's own files look at it
	Table  *Table
	GoName string // unique in the service: event, verb and table, as in "OrderPlacedUpsertOrders"
	Each   *Field // list field: one row per element; nil = one row
	// Set are the columns that the step writes, in the table's column order.
	Set []Assign
	// Where finds the rows that are there, in the table's column order; empty if By does.
	Where []Assign
	// By are the columns of the unique key by which a row that Set describes is the same as one
	// that is there; empty if Where finds the row.
	By   []*Column
	If   Conditions
	Many bool // where is no whole unique key, on purpose
	Facts
}

// Conditions are what a step asks of what it finds, and what becomes of it otherwise: "error" or
// "skip".
type Conditions struct {
	Exists  string // it finds its row; "" if it is there to change or remove that row
	Missing string // it does not find its row; "" if it makes one
	// Newer compares this column: the step applies only if Version is greater than what is
	// stored; a stored NULL counts as older. nil = no guard.
	Newer   *Column
	Version Value
}

// Assign gives a column its value.
type Assign struct {
	Column *Column
	Value  Value
	How    How
}

// How says what a value of Set does to its column in a row that is there. A new row holds the
// value as it is; one that is subtracted, with the other sign.
type How int

// What a value does.
const (
	Overwrites How = iota
	Keeps          // nothing: it is for new rows only
	Adds
	Subtracts
)

// ValueKind tells what a Value is.
type ValueKind int

// What a value is.
const (
	FieldValue    ValueKind = iota + 1 // Field of the event
	ResultValue                        // Field of the result of the event's effect
	ElemValue                          // Field is a member of Each's element, or nil: the element itself
	ConstValue                         // Const
	NowValue                           // transaction time
	PositionValue                      // position of the element, from 1
	SentValue                          // whether Field, a patch, is there
	NullValue                          // clear
	EventIDValue                       // id of an event in the outbox, derived from the record
)

// Value is what a step puts into a column or compares with it.
type Value struct {
	Kind  ValueKind
	Field *Field
	Const *Constant
}

// Optional reports whether the value may be NULL.
func (v Value) Optional() bool {
	return v.Kind == NullValue || v.Field != nil && v.Field.Type.Optional || v.Patch()
}
