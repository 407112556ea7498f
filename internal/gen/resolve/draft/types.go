package draft

import (
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Type is an entry of types. Of a broken one only the name is known.
type Type struct {
	Spec   *syntax.Type
	Model  *model.Type
	Fields []Field // of an object, as far as they were accepted
	Broken bool
}

// Types are the entries of types.
type Types struct {
	Declared[*Type]
	All    []*Type         // in spec order
	Naming string          // by which members without a path are spelled
	Used   map[string]bool // names that some part of the spec refers to, in any naming
}

// Field is a field as written and as resolved. Field is nil if it was refused.
type Field struct {
	Spec  *syntax.Field
	Field *model.Field
}
