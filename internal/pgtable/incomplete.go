package pgtable

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// incompleteSQL finds missing constraints, triggers and indexes on which the guarantee rests. It
// qualifies every function with pg_catalog, and does not read the tables.
const incompleteSQL = `
WITH needs (part, name, kind, what) AS (VALUES
    ('core', 'idem_stream', 'p', 'primary key'), ('core', 'idem_stream', 'u', 'idem_stream_identity'),
    ('core', 'idem_ledger', 'p', 'primary key'), ('core', 'idem_ledger', 'c', 'idem_ledger_shape'), ('core', 'idem_ledger', 'c', 'idem_ledger_window'),
    ('core', 'idem_ledger', 'g', 'idem_ledger_commit'), ('core', 'idem_operator', 'p', 'primary key'), ('core', 'idem_dead_letter', 'p', 'primary key'), ('core', 'idem_process', 'p', 'primary key'),
    ('core', 'idem_assert', 'c', 'idem_assert_lease'), ('core', 'idem_assert', 'c', 'idem_assert_letter'), ('core', 'idem_step_refused', 'c', 'idem_step_refused'),
    ('keys', 'idem_key_gen', 'p', 'primary key'), ('keys', 'idem_key_gen', 'i', 'idem_key_gen_open'), ('effects', 'idem_lease', 'p', 'primary key')
)
SELECT pg_catalog.format('%s lacks its %s', n.name, pg_catalog.concat(CASE WHEN n.kind OPERATOR(pg_catalog.=) 'g' THEN 'trigger '
    WHEN n.kind OPERATOR(pg_catalog.=) 'i' THEN 'unique index ' WHEN n.kind OPERATOR(pg_catalog.<>) 'p' THEN 'constraint ' END, n.what))
FROM needs n JOIN pg_catalog.pg_class f ON f.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(n.name)::pg_catalog.oid
WHERE n.part OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[])
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE c.conrelid OPERATOR(pg_catalog.=) f.oid AND c.contype::pg_catalog.text OPERATOR(pg_catalog.=) n.kind
        AND (n.kind OPERATOR(pg_catalog.=) 'p' OR c.conname::pg_catalog.text OPERATOR(pg_catalog.=) n.what))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid OPERATOR(pg_catalog.=) f.oid AND n.kind OPERATOR(pg_catalog.=) 'g'
        AND t.tgname::pg_catalog.text OPERATOR(pg_catalog.=) n.what AND t.tgenabled OPERATOR(pg_catalog.<>) 'D'::pg_catalog."char")
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
        WHERE i.indrelid OPERATOR(pg_catalog.=) f.oid AND n.kind OPERATOR(pg_catalog.=) 'i' AND c.relname::pg_catalog.text OPERATOR(pg_catalog.=) n.what
        AND i.indisunique AND i.indisvalid)
LIMIT 1`

// Incomplete reports a table that lacks something that the runtime's migrations make. It is nil if
// there is none.
func Incomplete(ctx context.Context, db Querier, parts []string) (*Difference, error) {
	rows, _ := db.Query(ctx, incompleteSQL, pgx.QueryExecModeExec, parts)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read constraints and triggers of the runtime's tables: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &Difference{Text: found[0], Advice: "restore what is missing: the migrations of the runtime have the statement"}, nil
}
