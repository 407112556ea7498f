package pgtable

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Functions and Operators are what the statements of the runtime, of the generated code and of the
// commands call without naming pg_catalog, and with arguments. Postgres prefers the best match of
// the argument types wherever in search_path it is, so that a function unnest(uuid[]) in the
// service's schema would be called with the rights of the service.
var (
	Functions = []string{
		"abs", "array_agg", "btrim", "cardinality", "concat_ws", "count", "current_setting", "first_value", "format", "format_type",
		"generate_series", "generate_subscripts", "has_any_column_privilege", "has_schema_privilege", "has_sequence_privilege",
		"has_table_privilege", "hashtext", "hashtextextended", "host", "json_agg", "json_build_object", "max", "min", "nextval", "octet_length",
		"parse_ident", "pg_blocking_pids", "pg_get_expr", "pg_get_indexdef", "pg_notify", "pg_terminate_backend", "pg_try_advisory_lock",
		"regexp_split_to_table", "replace", "row_security_active", "set_config", "split_part", "string_agg", "string_to_array", "sum",
		"to_char", "to_regclass", "unnest",
	}
	Operators = []string{"=", "<>", "<", "<=", ">", ">=", "||", "+", "-", "*", "/", "%", "~", "!~", "~~", "!~~"}
)

// plantedSQL finds a function or an operator with one of these names, and arguments of built-in
// types only, in a schema of search_path, or a schema before pg_catalog in which other roles may
// create. It calls nothing but what it names.
const plantedSQL = `
SELECT pg_catalog.format('function %s', p.oid::pg_catalog.regprocedure)
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
WHERE n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false)) AND n.nspname OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.name
    AND p.proname OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.name[]) AND p.pronargs OPERATOR(pg_catalog.>) 0::pg_catalog.int2
    AND NOT EXISTS (
        SELECT FROM pg_catalog.unnest(p.proargtypes::pg_catalog.oid[]) AS a (type) JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.type
        WHERE t.typnamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid)
UNION ALL
SELECT pg_catalog.format('operator %s', o.oid::pg_catalog.regoperator)
FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false)) AND n.nspname OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.name
    AND o.oprname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[])
    AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) ANY (ARRAY[o.oprleft, o.oprright])
        AND (t.typnamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid OR t.typcategory OPERATOR(pg_catalog.=) 'A'::pg_catalog."char"))
UNION ALL
SELECT pg_catalog.format('everything in schema %I', s.name)
FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS s (name, n)
JOIN pg_catalog.pg_namespace n ON n.nspname OPERATOR(pg_catalog.=) s.name
WHERE s.n OPERATOR(pg_catalog.<) (SELECT c.n FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS c (name, n)
        WHERE c.name OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.name)
    AND EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) AS a WHERE a.grantee OPERATOR(pg_catalog.<>) n.nspowner
        AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE'::pg_catalog.text)
LIMIT 1`

// Planted is what statements would call in place of the server's own function or operator; nil if
// there is nothing.
func Planted(ctx context.Context, db Querier) (*Difference, error) {
	rows, _ := db.Query(ctx, plantedSQL, pgx.QueryExecModeExec, Functions, Operators)
	what, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for functions and operators that hide the server's own: %w", err)
	}
	return &Difference{
		Text:   what + " is found by search_path, and statements would call it in place of the server's own",
		Advice: "drop it, or take its schema out of search_path; let only roles that you trust have CREATE on the schemas of search_path, and put no schema before pg_catalog",
	}, nil
}
