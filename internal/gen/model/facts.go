package model

import "slices"

// Facts are what a step does to rows, whatever its verb is called: the spec's meaning for the
// stages that need no more of it. Package resolve computes them once. Package oracle must not
// read them: it says by itself what a verb does, so that it can find them wrong.
type Facts struct {
	Makes   bool // a row may be there afterwards that was not
	Changes bool // a row that was there may hold other values
	Removes bool // a row that was there may be gone
	// Sums says that all changes of a row that was there are sums: steps on one row may change
	// places.
	Sums bool
	// Gathers says that the statement takes any number of events of one row, in their order.
	Gathers bool
	// Whole says that the step may change rows that it does not name by the whole primary
	// key, or free a value of a further unique key: the runtime then treats it as
	// writing the whole table.
	Whole bool
	// Contended says that another partition may change the same rows at the same time.
	Contended bool
	// Collapse says that equal rows of a batch may be collapsed in the statement: the
	// only step of the topic on a table that has no foreign key, no further unique key
	// and is no parent of a table that the topic writes.
	Collapse bool
	// Unlinks are the foreign keys of the table through which the step may end a stored row's
	// reference to its parent.
	Unlinks []ForeignKey
	// Cascades are tables whose rows change through foreign keys (on_delete cascade or
	// set_null) when the step removes a row, transitively.
	Cascades []*Table
	// Reads are the parent rows that the foreign keys of the step's rows name.
	Reads []ParentRow
}

// ParentRow is a row of a parent table that a step's foreign key names.
type ParentRow struct {
	Table  *Table
	Values []Value // in the order of the parent's primary key; nil if the step does not name all of it
}

// OnlyMakes reports whether the step leaves every row alone that is there.
func (f *Facts) OnlyMakes() bool { return f.Makes && !f.Changes && !f.Removes }

// OnlyChanges reports whether there are as many rows after the step as before.
func (f *Facts) OnlyChanges() bool { return f.Changes && !f.Makes && !f.Removes }

// Skips reports whether the step may be skipped without an error.
func (s *Step) Skips() bool {
	return s.If.Newer != nil || s.If.Missing == "skip" && !s.Removes || s.If.Exists == "skip" && len(s.FoundBy()) > 0
}

// FoundBy returns the columns by which the step finds a row. There are none if the database makes
// a key that no other row has.
func (s *Step) FoundBy() (columns []*Column) {
	for _, a := range s.Where {
		columns = append(columns, a.Column)
	}
	if len(s.Where) > 0 || slices.ContainsFunc(s.By, func(c *Column) bool { return !s.sets(c) }) {
		return columns
	}
	return s.By
}

// Names are the values that say which rows the step means: those of Where, or of the row that
// it makes.
func (s *Step) Names() []Assign {
	if len(s.Where) > 0 {
		return s.Where
	}
	return s.Set
}
