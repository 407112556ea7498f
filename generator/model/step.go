package model

// Verb is what a step does.
type Verb int

// The verbs built so far.
const (
	Insert Verb = iota + 1
	Upsert
	Update
	Delete
)

// Step is one step of an event: one row (or one per element of Each) of one table.
type Step struct {
	Event  *Event
	Verb   Verb
	Table  *Table
	GoName string // unique in the service: event, verb and table, as in "OrderPlacedUpsertOrders"
	Each   *Field // list field: one row per element; nil = one row
	// Set are the columns that the step writes, in the table's column order. insert and
	// upsert: every column but Leave and the database's own; update: set and clear.
	Set []Assign
	// Where finds the row of update and delete, in the table's column order.
	Where []Assign
	// By are the columns of the unique key that decides "same row" of an upsert.
	By []*Column
	// IfExists (insert) and IfMissing (update) are "error" or "skip".
	IfExists  string
	IfMissing string
	// IfNewer compares this column: the step applies only if Newer is greater than what
	// is stored; a stored NULL counts as older. nil = no guard.
	IfNewer *Column
	Newer   Value
	Many    bool // where is no whole unique key, on purpose
	// Collapse says that equal rows of a batch may be collapsed in the statement: the
	// only step of the topic on a table that has no foreign key, no further unique key
	// and is no parent of a table that the topic writes.
	Collapse bool
	// Whole says that the step may change rows that it does not name by the whole primary
	// key, or free a value of a further unique key: the runtime then treats it as
	// writing the whole table.
	Whole bool
	// Cascades are tables whose rows a delete changes through foreign keys (on_delete
	// cascade or set_null), transitively.
	Cascades []*Table
	// Reads are the parent rows that the foreign keys of an insert, upsert or update name.
	Reads []ParentRow
}

// ParentRow is a row of a parent table that a step's foreign key names.
type ParentRow struct {
	Table  *Table
	Values []Value // in the order of the parent's primary key; nil if the step does not name all of it
}

// Assign gives a column its value.
type Assign struct {
	Column *Column
	Value  Value
}

// ValueKind tells what a Value is.
type ValueKind int

// What a value is.
const (
	FieldValue    ValueKind = iota + 1 // Field of the event
	ElemValue                          // Field is a member of Each's element, or nil: the element itself
	ConstValue                         // Const
	NowValue                           // transaction time
	PositionValue                      // position of the element, from 1
	NullValue                          // clear
)

// Value is what a step puts into a column or compares with it.
type Value struct {
	Kind  ValueKind
	Field *Field
	Const *Constant
}

// Optional reports whether the value may be NULL.
func (v Value) Optional() bool {
	return v.Kind == NullValue || v.Field != nil && v.Field.Type.Optional
}
