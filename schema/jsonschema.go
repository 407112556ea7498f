package schema

import (
	_ "embed"
	"slices"
)

//go:embed idemgen.v1.schema.json
var jsonSchema []byte

// JSONSchema returns the JSON Schema (draft-07) of the built language, for editors. It
// says which keys there are and what they mean; Load alone decides what is valid.
func JSONSchema() []byte { return slices.Clone(jsonSchema) }
