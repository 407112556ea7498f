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
	Operators = []string{"=", "<>", "<", "<<", "<=", ">", ">=", "||", "+", "-", "*", "/", "%", "~", "!~", "~~", "!~~"}
)

// plantedSQL finds a function or an operator with one of these names in a schema of search_path,
// or a schema before pg_catalog in which other roles may create. What takes built-in types only is
// planted, whoever made it. With other types it is not if a role made it that is trusted, or that
// owns all of its types: then it fits no column of others. An extension that a trusted role
// installed plants nothing. Trusted are superusers, this role, the owners of the database, of the
// runtime's tables and of their schema, and members of these roles. The statement names pg_catalog
// before all that it calls.
const plantedSQL = `
WITH named AS (
    SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AS class, p.oid, p.proowner AS owner, p.proargtypes::pg_catalog.oid[] AS types
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
    WHERE p.proname OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.name[]) AND p.pronargs OPERATOR(pg_catalog.>) 0::pg_catalog.int2
        AND n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false)) AND n.nspname OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.name
    UNION ALL
    SELECT 'pg_catalog.pg_operator'::pg_catalog.regclass::pg_catalog.oid, o.oid, o.oprowner, ARRAY[o.oprleft, o.oprright]
    FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace
    WHERE o.oprname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[])
        AND n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false)) AND n.nspname OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.name
), trusted (oid) AS (
    SELECT d.datdba FROM pg_catalog.pg_database d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    UNION SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER
    UNION SELECT pg_catalog.unnest(ARRAY[c.relowner, n.nspowner]) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE c.oid OPERATOR(pg_catalog.=) ANY (ARRAY[pg_catalog.to_regclass('idem_schema')::pg_catalog.oid, pg_catalog.to_regclass('idem_outbox')::pg_catalog.oid])
)
SELECT CASE WHEN x.class OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
    THEN pg_catalog.format('function %s', x.oid::pg_catalog.regprocedure) ELSE pg_catalog.format('operator %s', x.oid::pg_catalog.regoperator) END
FROM named x
WHERE NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
        WHERE d.classid OPERATOR(pg_catalog.=) x.class AND d.objid OPERATOR(pg_catalog.=) x.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog."char"
        AND EXISTS (SELECT FROM trusted r WHERE pg_catalog.pg_has_role(x.owner, r.oid, 'MEMBER') OR pg_catalog.pg_has_role(e.extowner, r.oid, 'MEMBER')))
    AND (NOT EXISTS (
        SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) ANY (x.types)
        AND t.typnamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid)
    OR NOT EXISTS (SELECT FROM trusted r WHERE pg_catalog.pg_has_role(x.owner, r.oid, 'MEMBER')) AND EXISTS (
        SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) ANY (x.types) AND t.typowner OPERATOR(pg_catalog.<>) x.owner))
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
