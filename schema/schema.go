// Package schema has the JSON Schemas of specs and cases: what an editor offers and checks while
// one writes them. What package syntax reads is held against them by a test.
//
// It must not import any other package of this module.
package schema

import _ "embed"

// JSON Schemas for editors: of specs, and of cases.
var (
	//go:embed idemgen.v1.schema.json
	SpecJSON []byte
	//go:embed idemgen.case.v1.schema.json
	CaseJSON []byte
)
