// Command keys writes what is made from the tables of keys in internal/gen/syntax: the JSON
// Schemas of specs and cases for editors, and docs/keys.md. It imports package syntax, because
// people and editors must see what the generator reads, and nothing else of this module.
package main

import (
	"log"
	"maps"
	"os"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

func main() {
	made := files()
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if err := os.WriteFile(name, made[name], 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// files are those that this command writes, by their paths in the repository.
func files() map[string][]byte {
	spec, cases := syntax.Language(), syntax.CaseLanguage()
	return map[string][]byte{
		"schema/idemgen.v1.schema.json": jsonSchema(spec, "idemgen.v1.schema.json", "idemgen spec, version 1",
			"Topics that a service reads, the idempotency key of each event, and the rows that it writes."),
		"schema/idemgen.case.v1.schema.json": jsonSchema(cases, "idemgen.case.v1.schema.json", "A case of idemgen, version 1",
			"Records, the rows that exist before them, and the rows expected afterwards."),
		"docs/keys.md": page(spec, cases),
	}
}
