package schema

import (
	_ "embed"
	"slices"
)

//go:embed idemgen.v1.schema.json
var jsonSchema []byte

//go:embed idemgen.case.v1.schema.json
var caseJSONSchema []byte

// JSONSchema returns the JSON Schema (draft-07) of the built language, for editors. It
// says which keys there are and what they mean; Load alone decides what is valid.
func JSONSchema() []byte { return slices.Clone(jsonSchema) }

// CaseJSONSchema returns the JSON Schema (draft-07) of cases, for editors. LoadCase decides.
func CaseJSONSchema() []byte { return slices.Clone(caseJSONSchema) }
