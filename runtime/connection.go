package idem

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/session"
)

// connection is what the runtime knows of one of its connections.
type connection struct {
	failed *pgconn.PgError // the last error that the server told
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

// clean takes back what a handler changed for the session and what would change the meaning
// of the statements behind it: settings, the role, temporary tables.
func clean(s *session.Session) []statement {
	return []statement{{is: session.Reset}, {is: session.Give, args: s.Given()}, {is: discardTemp}}
}

// leave takes back what outlives a transaction, too. It is for a connection that goes back
// into the pool.
func leave(s *session.Session) []statement {
	return append(clean(s), statement{is: unlock}, statement{is: unlisten}, statement{is: closeAll})
}
