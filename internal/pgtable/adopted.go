package pgtable

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// adoptedSQL finds a table that belongs to another role than the function idem_ledger_commit, and
// missing constraints, triggers and indexes on which the guarantee rests. It qualifies
// every function with pg_catalog, and does not read these tables: one may be another role's view.
const adoptedSQL = `
WITH relation (part, name) AS (VALUES
    ('core', 'idem_schema'), ('core', 'idem_stream'), ('core', 'idem_ledger'), ('core', 'idem_operator'), ('core', 'idem_dead_letter'),
    ('core', 'idem_assert'), ('core', 'idem_step_refused'), ('core', 'idem_fence'),
    ('keys', 'idem_key_gen'), ('keys', 'idem_keys'), ('effects', 'idem_lease')
), found AS (
    SELECT r.part, r.name, c.oid, c.relowner, c.relnamespace FROM relation r JOIN pg_catalog.pg_class c
    ON c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(r.name)::pg_catalog.oid WHERE r.part OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[])
), needs (name, kind, what) AS (VALUES
    ('idem_stream', 'p', 'primary key'), ('idem_stream', 'u', 'idem_stream_identity'),
    ('idem_ledger', 'p', 'primary key'), ('idem_ledger', 'c', 'idem_ledger_shape'), ('idem_ledger', 'c', 'idem_ledger_window'),
    ('idem_ledger', 'g', 'idem_ledger_commit'), ('idem_operator', 'p', 'primary key'), ('idem_dead_letter', 'p', 'primary key'),
    ('idem_assert', 'c', 'idem_assert_lease'), ('idem_assert', 'c', 'idem_assert_letter'), ('idem_step_refused', 'c', 'idem_step_refused'),
    ('idem_key_gen', 'p', 'primary key'), ('idem_key_gen', 'i', 'idem_key_gen_open'), ('idem_lease', 'p', 'primary key')
), maker AS (
    SELECT coalesce((SELECT p.proowner FROM pg_catalog.pg_proc p WHERE p.proname OPERATOR(pg_catalog.=) 'idem_ledger_commit'::pg_catalog.name
        AND p.pronargs OPERATOR(pg_catalog.=) 0::pg_catalog.int2 AND p.pronamespace OPERATOR(pg_catalog.=) f.relnamespace), f.relowner) AS oid
    FROM found f WHERE f.name OPERATOR(pg_catalog.=) 'idem_schema'
)
SELECT pg_catalog.format('%s belongs to role %I, and the migrations of the runtime were applied by role %I', f.name,
    pg_catalog.pg_get_userbyid(f.relowner), pg_catalog.pg_get_userbyid(m.oid))
FROM found f CROSS JOIN maker m WHERE NOT pg_catalog.pg_has_role(f.relowner, m.oid, 'MEMBER')
UNION ALL
SELECT pg_catalog.format('%s lacks its %s', f.name, pg_catalog.concat(CASE WHEN n.kind OPERATOR(pg_catalog.=) 'g' THEN 'trigger '
    WHEN n.kind OPERATOR(pg_catalog.=) 'i' THEN 'unique index ' WHEN n.kind OPERATOR(pg_catalog.<>) 'p' THEN 'constraint ' END, n.what))
FROM found f JOIN needs n ON n.name OPERATOR(pg_catalog.=) f.name
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE c.conrelid OPERATOR(pg_catalog.=) f.oid AND c.contype::pg_catalog.text OPERATOR(pg_catalog.=) n.kind
        AND (n.kind OPERATOR(pg_catalog.=) 'p' OR c.conname::pg_catalog.text OPERATOR(pg_catalog.=) n.what))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid OPERATOR(pg_catalog.=) f.oid AND n.kind OPERATOR(pg_catalog.=) 'g'
        AND t.tgname::pg_catalog.text OPERATOR(pg_catalog.=) n.what AND t.tgenabled OPERATOR(pg_catalog.<>) 'D'::pg_catalog."char")
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
        WHERE i.indrelid OPERATOR(pg_catalog.=) f.oid AND n.kind OPERATOR(pg_catalog.=) 'i' AND c.relname::pg_catalog.text OPERATOR(pg_catalog.=) n.what
        AND i.indisunique AND i.indisvalid)
LIMIT 1`

// Adopted reports a table that is not as the runtime's migrations make it: it was there before
// them, or was changed since. It is nil if there is none.
func Adopted(ctx context.Context, db Querier, parts []string) (*Difference, error) {
	rows, _ := db.Query(ctx, adoptedSQL, pgx.QueryExecModeExec, parts)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read who made the runtime's tables: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &Difference{
		Text:   found[0],
		Advice: "if another role made it, find out why, drop it and apply the migration again; else restore what is missing, or change the owner: one role, or members of it, must own all of these tables",
	}, nil
}
