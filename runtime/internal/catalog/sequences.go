package catalog

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
)

// behindSQL returns how far idem_fence is behind the tokens in use, and the highest of them. The
// sequence is behind if the database was moved without it, for example by logical replication.
const behindSQL = `
WITH last AS (SELECT coalesce(pg_catalog.pg_sequence_last_value('idem_fence'::regclass), 0) AS n),
used AS (SELECT greatest((SELECT max(fence) FROM idem_lease WHERE fence > last.n),
    (SELECT max(asked_number) FROM idem_dead_letter WHERE asked IS NOT NULL AND asked_number > last.n)) AS n FROM last)
SELECT coalesce(used.n - last.n, 0), coalesce(used.n, 0) FROM last, used`

// MoveFence moves the sequence of fencing tokens past all tokens in use, so that the next token is
// greater. Every new connection does it: it may lead to another server.
func (c *Current) MoveFence(ctx context.Context, conn *pgx.Conn) error {
	var by, most int64
	err := conn.QueryRow(ctx, behindSQL, pgx.QueryExecModeExec).Scan(&by, &most)
	switch {
	case err != nil:
		return fmt.Errorf("compare the sequence idem_fence with the tokens in use: %w", err)
	case by == 0:
		return nil
	}
	if _, err = conn.Exec(ctx, ledger.LeapSQL, pgx.QueryExecModeExec, most); err != nil {
		return fmt.Errorf("move the sequence idem_fence past the tokens in use: %w", err)
	}
	c.log.Warn("the sequence idem_fence was behind the fencing tokens in use, and was moved: was the database moved without its sequences?", "by", by)
	return nil
}
