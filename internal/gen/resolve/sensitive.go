package resolve

import (
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// sensitiveType reports whether all values of a type are sensitive: of one that says so, and of
// lists and maps of it.
func sensitiveType(types *draft.Types, t *syntax.FieldType) bool {
	for t.Elem != nil {
		t = t.Elem
	}
	e := types.Find(t.Name)
	return e != nil && !e.Broken && e.Spec.Sensitive != nil && e.Spec.Sensitive.Value
}
