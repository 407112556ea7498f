package resolve

import (
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/schema"
)

// sensitiveType reports whether all values of a type are sensitive: of one that says so, of
// another name of it, and of lists and maps of it. The type is known to be no circle.
func sensitiveType(types *draft.Types, t *schema.FieldType) bool {
	for t.Elem != nil {
		t = t.Elem
	}
	e := types.Find(t.Name)
	switch {
	case e == nil || e.Broken:
		return false
	case e.Spec.Sensitive != nil && e.Spec.Sensitive.Value:
		return true
	}
	return e.Spec.Kind == schema.NameType && sensitiveType(types, e.Spec.Is)
}
