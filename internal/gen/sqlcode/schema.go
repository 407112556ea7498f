package sqlcode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// schemasOf creates the schemas that the tables name. IF NOT EXISTS would need the right to
// create schemas also where the schema is there.
func schemasOf(tables []*model.Table) []string {
	var names []string
	for _, t := range tables {
		if t.Schema != "" && t.Schema != "public" && !slices.Contains(names, t.Schema) {
			names = append(names, t.Schema)
		}
	}
	return createSchemas(names)
}

func createSchemas(names []string) []string {
	var parts []string
	for _, name := range names {
		parts = append(parts, unlessThere("SELECT FROM pg_namespace WHERE nspname = "+quote(name), "CREATE SCHEMA "+ident(name)))
	}
	return parts
}

// unlessThere runs a statement if the query finds nothing.
func unlessThere(query, statement string) string {
	body := "BEGIN\n    IF NOT EXISTS (" + query + ") THEN\n        " + statement + ";\n    END IF;\nEND"
	quotes := "$" + free("do", func(tag string) bool { return strings.Contains(body, "$"+tag+"$") }) + "$"
	return "DO " + quotes + " " + body + " " + quotes + ";"
}
