package pgtable

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// incompleteSQL finds missing constraints, triggers and indexes on which the guarantee rests, and
// functions that any role may call to empty the tables of keys, and how to mend each. It qualifies
// every function with pg_catalog, and does not read the tables.
const incompleteSQL = `
WITH needs (part, name, kind, what) AS (VALUES
    ('core', 'idem_stream', 'p', 'primary key'), ('core', 'idem_stream', 'u', 'idem_stream_identity'),
    ('core', 'idem_ledger', 'p', 'primary key'), ('core', 'idem_ledger', 'c', 'idem_ledger_shape'), ('core', 'idem_ledger', 'c', 'idem_ledger_window'),
    ('core', 'idem_ledger', 'g', 'idem_ledger_commit'), ('core', 'idem_operator', 'p', 'primary key'), ('core', 'idem_dead_letter', 'p', 'primary key'), ('core', 'idem_process', 'p', 'primary key'),
    ('core', 'idem_assert', 'c', 'idem_assert_lease'), ('core', 'idem_assert', 'c', 'idem_assert_letter'), ('core', 'idem_step_refused', 'c', 'idem_step_refused'),
    ('keys', 'idem_key_gen', 'p', 'primary key'), ('keys', 'idem_key_gen', 'i', 'idem_key_gen_open'), ('effects', 'idem_lease', 'p', 'primary key')
)
SELECT pg_catalog.format('%s lacks its %s', n.name, pg_catalog.concat(CASE WHEN n.kind OPERATOR(pg_catalog.=) 'g' THEN 'trigger '
    WHEN n.kind OPERATOR(pg_catalog.=) 'i' THEN 'unique index ' WHEN n.kind OPERATOR(pg_catalog.<>) 'p' THEN 'constraint ' END, n.what)),
    'restore what is missing: the migrations of the runtime have the statement'
FROM needs n JOIN pg_catalog.pg_class f ON f.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(n.name)::pg_catalog.oid
WHERE n.part OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[])
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE c.conrelid OPERATOR(pg_catalog.=) f.oid AND c.contype::pg_catalog.text OPERATOR(pg_catalog.=) n.kind
        AND (n.kind OPERATOR(pg_catalog.=) 'p' OR c.conname::pg_catalog.text OPERATOR(pg_catalog.=) n.what))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid OPERATOR(pg_catalog.=) f.oid AND n.kind OPERATOR(pg_catalog.=) 'g'
        AND t.tgname::pg_catalog.text OPERATOR(pg_catalog.=) n.what AND t.tgenabled OPERATOR(pg_catalog.<>) 'D'::pg_catalog."char")
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
        WHERE i.indrelid OPERATOR(pg_catalog.=) f.oid AND n.kind OPERATOR(pg_catalog.=) 'i' AND c.relname::pg_catalog.text OPERATOR(pg_catalog.=) n.what
        AND i.indisunique AND i.indisvalid)
UNION ALL
SELECT pg_catalog.format('%s lacks its primary key: every duplicate would take effect again', k.inhrelid::pg_catalog.regclass),
    pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (key); a key that is in the table twice took effect twice', k.inhrelid::pg_catalog.regclass)
FROM pg_catalog.pg_inherits k
WHERE 'keys'::pg_catalog.text OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]) AND k.inhparent OPERATOR(pg_catalog.=) pg_catalog.to_regclass('idem_keys')::pg_catalog.oid
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid
        AND a.attnum OPERATOR(pg_catalog.=) i.indkey[0] AND a.attname OPERATOR(pg_catalog.=) 'key'::pg_catalog.name
        WHERE i.indrelid OPERATOR(pg_catalog.=) k.inhrelid AND i.indisprimary AND i.indisvalid AND i.indimmediate AND i.indnkeyatts OPERATOR(pg_catalog.=) 1::pg_catalog.int2)
UNION ALL
SELECT pg_catalog.format('every role may call %s, which runs with the rights of its owner', p.oid::pg_catalog.regprocedure),
    pg_catalog.format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC; a restore without privileges (pg_restore -x) loses what the migrations revoke', p.oid::pg_catalog.regprocedure)
FROM pg_catalog.pg_class h JOIN pg_catalog.pg_proc p ON p.pronamespace OPERATOR(pg_catalog.=) h.relnamespace
WHERE h.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('idem_schema')::pg_catalog.oid AND p.prosecdef AND pg_catalog.starts_with(p.proname::pg_catalog.text, 'idem_')
    AND p.prorettype OPERATOR(pg_catalog.<>) 'pg_catalog.trigger'::pg_catalog.regtype::pg_catalog.oid
    AND (p.proacl IS NULL OR EXISTS (SELECT FROM pg_catalog.aclexplode(p.proacl) AS a
        WHERE a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid AND a.privilege_type OPERATOR(pg_catalog.=) 'EXECUTE'::pg_catalog.text))
LIMIT 1`

// Incomplete reports a table that lacks something that the runtime's migrations make, or a
// function whose rights they revoke, and that has them. It is nil if there is none.
func Incomplete(ctx context.Context, db Querier, parts []string) (*Difference, error) {
	rows, _ := db.Query(ctx, incompleteSQL, pgx.QueryExecModeExec, parts)
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Difference])
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read constraints, triggers and functions of the runtime: %w", err)
	}
	return &found, nil
}
