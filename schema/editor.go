package schema

import _ "embed"

// JSON Schemas for editors: of specs, and of cases.
var (
	//go:embed idemgen.v1.schema.json
	SpecJSON []byte
	//go:embed idemgen.case.v1.schema.json
	CaseJSON []byte
)
