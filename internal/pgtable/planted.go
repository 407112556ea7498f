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
		"abs", "array_agg", "bool_or", "btrim", "cardinality", "concat_ws", "count", "current_setting", "first_value", "format", "format_type",
		"generate_series", "generate_subscripts", "has_any_column_privilege", "has_schema_privilege", "has_sequence_privilege",
		"has_table_privilege", "hashtext", "hashtextextended", "host", "json_agg", "json_build_object", "max", "min", "nextval", "octet_length",
		"parse_ident", "pg_blocking_pids", "pg_get_expr", "pg_get_indexdef", "pg_notify", "pg_terminate_backend", "pg_try_advisory_lock",
		"regexp_split_to_table", "replace", "row_security_active", "set_config", "split_part", "starts_with", "string_agg", "string_to_array", "sum",
		"to_char", "to_regclass", "unnest",
	}
	Operators = []string{"=", "<>", "<", "<<", "<=", ">", ">=", "||", "+", "-", "*", "/", "%", "~", "!~", "~~", "!~~"}
)

// relations are the tables of the runtime and of the outbox, and the sequence, as statements name
// them. Their indexes and other sequences belong to the same roles.
var relations = []string{
	"idem_schema", "idem_stream", "idem_ledger", "idem_operator", "idem_dead_letter", "idem_assert", "idem_step_refused", "idem_fence",
	"idem_key_gen", "idem_keys", "idem_lease", "idem_outbox", "idem_dead_letter_topic", "idem_process",
}

// plantedSQL finds a table of the runtime, or a function whose name begins with idem_, of another
// role than the maker: the owner of idem_schema or, without it, of idem_outbox. Objects of trusted
// roles are accepted beside those of a trusted maker only. A maker that is not trusted must own
// all objects: else it may have made idem_schema before a trusted role applied the migrations.
//
// It also finds a function or an operator with one of the names in a schema of search_path, or a
// schema before pg_catalog in which other roles may create. What takes built-in types only is
// planted, whoever made it. With other types it is not if a role made it that is trusted or the
// maker, or that owns all of its types: then it fits no column of others. An extension that a
// trusted role installed plants nothing.
//
// Trusted are superusers, this role, the owners of the database and of the schema of the maker's
// tables, and members of these roles. The statement names pg_catalog before all that it calls.
const plantedSQL = `
WITH relation AS (
    SELECT r.name, c.relowner AS owner, c.relnamespace AS home FROM pg_catalog.unnest($3::pg_catalog.text[]) AS r (name)
    JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(r.name)::pg_catalog.oid
), maker AS (
    SELECT r.name, r.owner, r.home FROM relation r WHERE r.name OPERATOR(pg_catalog.=) 'idem_schema'::pg_catalog.text
    UNION ALL SELECT r.name, r.owner, r.home FROM relation r WHERE r.name OPERATOR(pg_catalog.=) 'idem_outbox'::pg_catalog.text
        AND NOT EXISTS (SELECT FROM relation s WHERE s.name OPERATOR(pg_catalog.=) 'idem_schema'::pg_catalog.text)
), trusted (oid) AS (
    SELECT d.datdba FROM pg_catalog.pg_database d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    UNION SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER
    UNION SELECT n.nspowner FROM maker m JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) m.home
), own AS (
    SELECT o.what, o.owner, EXISTS (SELECT FROM trusted r WHERE pg_catalog.pg_has_role(o.owner, r.oid, 'MEMBER')) AS trusted
    FROM (
        SELECT r.name AS what, r.owner FROM relation r
        UNION ALL
        SELECT pg_catalog.format('function %s', p.oid::pg_catalog.regprocedure), p.proowner
        FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
        WHERE pg_catalog.starts_with(p.proname::pg_catalog.text, 'idem_') AND n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false))
    ) o
), named AS (
    SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AS class, p.oid, p.proowner AS owner, p.proargtypes::pg_catalog.oid[] AS types
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
    WHERE p.proname OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.name[]) AND p.pronargs OPERATOR(pg_catalog.>) 0::pg_catalog.int2
        AND n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false)) AND n.nspname OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.name
    UNION ALL
    SELECT 'pg_catalog.pg_operator'::pg_catalog.regclass::pg_catalog.oid, o.oid, o.oprowner, ARRAY[o.oprleft, o.oprright]
    FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace
    WHERE o.oprname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[])
        AND n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false)) AND n.nspname OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.name
), friend (oid) AS (
    SELECT r.oid FROM trusted r UNION SELECT m.owner FROM maker m
)
SELECT true, pg_catalog.format('%s belongs to role %I, and %s belongs to role %I', o.what, pg_catalog.pg_get_userbyid(o.owner),
    m.name, pg_catalog.pg_get_userbyid(m.owner))
FROM own o CROSS JOIN maker m JOIN own f ON f.what OPERATOR(pg_catalog.=) m.name
WHERE CASE WHEN o.trusted THEN NOT f.trusted ELSE NOT pg_catalog.pg_has_role(o.owner, m.owner, 'MEMBER') END
UNION ALL
SELECT false, CASE WHEN x.class OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid
    THEN pg_catalog.format('function %s', x.oid::pg_catalog.regprocedure) ELSE pg_catalog.format('operator %s', x.oid::pg_catalog.regoperator) END
FROM named x
WHERE NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
        WHERE d.classid OPERATOR(pg_catalog.=) x.class AND d.objid OPERATOR(pg_catalog.=) x.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog."char"
        AND EXISTS (SELECT FROM friend r WHERE pg_catalog.pg_has_role(x.owner, r.oid, 'MEMBER') OR pg_catalog.pg_has_role(e.extowner, r.oid, 'MEMBER')))
    AND (NOT EXISTS (
        SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) ANY (x.types)
        AND t.typnamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid)
    OR NOT EXISTS (SELECT FROM friend r WHERE pg_catalog.pg_has_role(x.owner, r.oid, 'MEMBER')) AND EXISTS (
        SELECT FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) ANY (x.types) AND t.typowner OPERATOR(pg_catalog.<>) x.owner))
UNION ALL
SELECT false, pg_catalog.format('everything in schema %I', s.name)
FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS s (name, n)
JOIN pg_catalog.pg_namespace n ON n.nspname OPERATOR(pg_catalog.=) s.name
WHERE s.n OPERATOR(pg_catalog.<) (SELECT c.n FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS c (name, n)
        WHERE c.name OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.name)
    AND EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) AS a WHERE a.grantee OPERATOR(pg_catalog.<>) n.nspowner
        AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE'::pg_catalog.text)
LIMIT 1`

// Planted reports what statements would call in place of the server's own function or operator,
// and what another role made under one of the runtime's names. It is nil if there is nothing.
func Planted(ctx context.Context, db Querier) (*Difference, error) {
	rows, _ := db.Query(ctx, plantedSQL, pgx.QueryExecModeExec, Functions, Operators, relations)
	type planted struct {
		Own  bool // it has a name of the runtime's
		What string
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[planted])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for functions, operators and tables that another role planted: %w", err)
	case found.Own:
		return &Difference{
			Text: found.What + ": one role must own all tables and functions of the runtime",
			Advice: "find out which role applied the migrations; drop what another role made, and apply the migration again as the first role, " +
				"or change the owner; let only roles that you trust have CREATE on the schema",
		}, nil
	}
	return &Difference{
		Text:   found.What + " is found by search_path, and statements would call it in place of the server's own",
		Advice: "drop it, or take its schema out of search_path; let only roles that you trust have CREATE on the schemas of search_path, and put no schema before pg_catalog",
	}, nil
}
