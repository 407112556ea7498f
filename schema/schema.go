// Package schema contains the JSON Schemas of specs and cases, with which editors complete and
// check them. go run ./scripts/keys makes them from the tables by which package syntax reads.
//
// It must not import any other package of this module.
package schema

import _ "embed"

// The JSON Schemas of specs and of cases.
var (
	//go:embed idemgen.v1.schema.json
	SpecJSON []byte
	//go:embed idemgen.case.v1.schema.json
	CaseJSON []byte
)
