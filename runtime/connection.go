package idem

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connection is what the runtime knows of one of its connections.
type connection struct {
	failed *pgconn.PgError // the last error that the server told
	given  [][]byte        // names and values of what was set for the session when it was opened
	kept   bool            // a handler that goes on has it: nobody else may touch it
}

const connectionKey = "idemgen"

func connectionOf(conn *pgconn.PgConn) *connection {
	c, ok := conn.CustomData()[connectionKey].(*connection)
	if !ok {
		c = &connection{}
		conn.CustomData()[connectionKey] = c
	}
	return c
}

// release gives a connection back, unless a handler that goes on has it. Such a one is cut
// already; even to ask whether it is closed would race with the handler.
func release(conn *pgxpool.Conn) {
	if connectionOf(conn.Conn().PgConn()).kept {
		conn.Hijack()
		return
	}
	conn.Release()
}

// noteErrors has connections remember the last error, whichever way a handler ran the
// statement and whatever it makes of the error: a transaction that failed cannot commit.
// That later statements are refused because of an earlier error tells nothing.
func noteErrors(cfg *pgx.ConnConfig) {
	before := cfg.OnPgError
	cfg.OnPgError = func(conn *pgconn.PgConn, pg *pgconn.PgError) bool {
		if c := connectionOf(conn); pg.Code != "25P02" || c.failed == nil {
			c.failed = pg
		}
		return before == nil || before(conn, pg)
	}
}

// givenSQL reads what was set for the session when it was opened, by the runtime or by the
// service's own hook; parameters of the start-up packet survive RESET ALL. The role stands
// in no view, and must be the first that is given back.
const (
	givenSQL = `
SELECT array_agg(name ORDER BY n), array_agg(value ORDER BY n)
FROM (SELECT 1 AS n, 'session_authorization' AS name, current_setting('session_authorization') AS value
      UNION ALL SELECT 2, 'role', current_setting('role')
      UNION ALL SELECT 3, name, setting FROM pg_settings WHERE source = 'session') AS s`

	giveSQL = `SELECT count(set_config(name, value, false)) FROM unnest($1::text[], $2::text[]) AS s (name, value)`
)

// remember remembers what conn was given, for [clean].
func remember(ctx context.Context, conn *pgx.Conn) error {
	r := conn.PgConn().ExecParams(ctx, givenSQL, nil, nil, nil, binaryFormat).Read()
	if r.Err != nil {
		return fmt.Errorf("read the session's settings: %w", r.Err)
	}
	connectionOf(conn.PgConn()).given = r.Rows[0]
	return nil
}

// clean takes back what a handler changed for the session and what would change the meaning
// of the statements behind it: settings, the role, temporary tables.
func (c *connection) clean() []statement {
	return []statement{{name: "idem_reset"}, {name: "idem_give", args: c.given}, {name: "idem_discard_temp"}}
}

// leave takes back what outlives a transaction, too. It is for a connection that goes back
// into the pool.
func (c *connection) leave() []statement {
	return append(c.clean(), statement{name: "idem_unlock"}, statement{name: "idem_unlisten"}, statement{name: "idem_close"})
}
