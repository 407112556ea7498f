package pgtable

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// place is a schema that holds a table of some name.
type place struct {
	schema string
	role   string // that asks
	usable bool   // the role may use it
	inPath bool   // search_path names it
}

// missing is the difference of a table that no statement would find.
func missing(ctx context.Context, db Querier, want *Want) ([]Difference, error) {
	places, err := elsewhere(ctx, db, want.SQL)
	if err != nil {
		return nil, err
	}
	d := Difference{Text: "there is no table " + want.SQL + " in the database", Advice: "apply the migrations, or give its place in the spec with schema: and name:"}
	var schemas []string
	for _, p := range places {
		switch {
		case p.inPath && !p.usable:
			return []Difference{usage(p.role, p.schema, want.SQL)}, nil
		case p.usable:
			schemas = append(schemas, p.schema)
		default:
			schemas = append(schemas, fmt.Sprintf("%s (which role %s may not use: GRANT USAGE ON SCHEMA %s TO %s)", p.schema, p.role, quoted(p.schema), quoted(p.role)))
		}
	}
	if len(schemas) > 0 {
		d.Advice = "there is one in schema " + strings.Join(schemas, ", and in ") + ": say so with schema:"
	}
	return []Difference{d}, nil
}

// elsewhere names the schemas that hold a table of this name, whatever its schema.
func elsewhere(ctx context.Context, db Querier, name string) ([]place, error) {
	rows, _ := db.Query(ctx, `
SELECT n.nspname::text, current_user::text, has_schema_privilege(n.oid, 'USAGE'),
	cardinality(i.parts) = 1 AND EXISTS (SELECT FROM regexp_split_to_table(current_setting('search_path'), ',') AS p WHERE btrim(p, ' "') = n.nspname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, parse_ident($1) AS i (parts)
WHERE c.relname = i.parts[cardinality(i.parts)] AND c.relkind IN ('r', 'p') ORDER BY n.nspname COLLATE "C"`, pgx.QueryExecModeExec, name)
	places, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p place, err error) {
		err = row.Scan(&p.schema, &p.role, &p.usable, &p.inPath)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("look for table %s: %w", name, err)
	}
	return places, nil
}
