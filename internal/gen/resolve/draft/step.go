package draft

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Step is one step while it is resolved.
type Step struct {
	Spec  *syntax.Step
	Model *model.Step
	Event *Event
	Table *Table
	Elem  *model.FieldType // of each; nil without each, or if unknown
	Set   Assigned
	Where Assigned
	Named map[*Column]bool // named by set, clear or leave
	// Whole is false if a part of the step was refused: nothing is concluded from what
	// it lacks.
	Whole bool
}

// Assigned are the values of columns. A column whose value was refused is there with an
// unknown value.
type Assigned map[*Column]Value

// Is names the step in a message: `the upsert of "orders"`.
func (st *Step) Is() string {
	return fmt.Sprintf("the %s of %s", st.Spec.Verb.Value, wording.Quote(st.Spec.Table.Value))
}

// PerElement reports whether the step runs once per element of a list.
func (st *Step) PerElement() bool { return st.Spec.Each != nil }

// Value is a value of a step. Known is false if it was refused or its declaration was.
type Value struct {
	Model model.Value
	How   model.How
	Type  model.FieldType // of a field or element
	Text  string          // as the spec names it: "total", "each.sku", "each"
	Known bool
}
