package model

import "slices"

// Outbox is what the service sends. An event is a row of Table until it is sent.
type Outbox struct {
	Table   *Table
	Headers []*OutHeader // that some event has, in the order of the table's columns
	Events  []*OutEvent  // in spec order
}

// OutHeader is a header of the records that a service sends, and the column that holds it.
type OutHeader struct {
	Name   string
	Column *Column
}

// OutEvent is an event that the service sends.
type OutEvent struct {
	Name   string
	GoName string
	Doc    Doc
	Topic  string
	Type   string // text of header event-type
	// Key is the field whose text is the record's key; it is one of Fields.
	Key     *Field
	Headers []OutValue // in the order of their names in the spec
	// Fields are the members of the generated struct: those of the value in spec order, then the
	// record key if no field has its name.
	Fields []*Field
	// Payload are the fields of the value, whose Source.Path is one member's name. A tombstone
	// has no value.
	Payload   []*Field
	Tombstone bool
}

// OutValue is a header, and the field whose text it holds.
type OutValue struct {
	Header *OutHeader
	Field  *Field
}

// Emit is a step that sends an outbox event, or one per element of Each.
type Emit struct {
	Of   *OutEvent
	Each *Field
	Set  []Filled // in the order of Of.Fields; an optional field without a value is not in it
	// Under says for which events it is sent, as for a step.
	Under Branch
}

// Asks reports whether some events that pass the step send nothing: the one under which it stands
// may be skipped.
func (em *Emit) Asks() bool { return em.Under.Of != nil && em.Under.Of.Skips() }

// Filled gives a field of an outbox event its value.
type Filled struct {
	Field *Field
	Value Value
}

// Emits reports whether some event of the topic has an emit step.
func (t *Topic) Emits() bool {
	return slices.ContainsFunc(t.Events, func(e *Event) bool { return len(e.Emits) > 0 })
}
