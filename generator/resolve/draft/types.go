package draft

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// Type is an entry of types. Of a broken one only the name is known.
type Type struct {
	Spec   *schema.Type
	Model  *model.Type
	Is     model.FieldType // of another name of a type: that one
	Fields []Field         // of an object, as far as they were accepted
	Broken bool
}

// Types are the entries of types.
type Types struct {
	Declared[*Type]
	All    []*Type // in spec order
	Naming string  // by which members without a path are spelled
}

// Generated are the types that the package of the service declares. Other names of types are none.
func (ts *Types) Generated() []*Type {
	return slices.DeleteFunc(slices.Clone(ts.All), func(t *Type) bool { return t.Spec.Kind == schema.NameType })
}

// GoTypes are the Go types of the service's own that its package uses.
func (ts *Types) GoTypes() (all []*model.GoType) {
	for _, t := range ts.All {
		if t.Spec.Go != nil && t.Is.Go != nil {
			all = append(all, t.Is.Go)
		}
	}
	return all
}

// Codecs are the types whose values Go code of the service reads.
func (ts *Types) Codecs() (all []*Type) {
	for _, t := range ts.All {
		if t.Spec.Coded() && t.Is.Codec != nil {
			all = append(all, t)
		}
	}
	return all
}

// Field is a field as written and as resolved. Field is nil if it was refused.
type Field struct {
	Spec  *schema.Field
	Field *model.Field
}
