package pool

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// State is what the runtime knows of one of its connections.
type State struct {
	Failed *pgconn.PgError // the last error that the server told
	Ended  bool            // a handler of the current transaction tried to commit it
	Kept   bool            // a handler that goes on has it: nobody else may touch it
}

const stateKey = "idemgen"

// StateOf is the state of a connection.
func StateOf(conn *pgconn.PgConn) *State {
	s, ok := conn.CustomData()[stateKey].(*State)
	if !ok {
		s = &State{}
		conn.CustomData()[stateKey] = s
	}
	return s
}

// noteErrors has connections keep the last error of a statement, however a handler ran it, and
// whether or not the handler returns the error: a transaction that failed cannot commit. The
// error that only says that an earlier one came before is not kept.
func noteErrors(cfg *pgx.ConnConfig) {
	before := cfg.OnPgError
	cfg.OnPgError = func(conn *pgconn.PgConn, pg *pgconn.PgError) bool {
		if s := StateOf(conn); pg.Code != "25P02" || s.Failed == nil {
			s.Failed = pg
		}
		if verdict.CommitRefused(pg) {
			StateOf(conn).Ended = true
		}
		return before == nil || before(conn, pg)
	}
}

// cancelPatience is how long a statement whose time is over may take to end when the server
// is told to cancel it. After that the connection is given up.
const cancelPatience = 5 * time.Second

// endOnServer has the server cancel a statement whose context ends, and waits for the answer:
// the next try must not find the last one at work. The driver's own way is to leave the
// connection, and the statement, to themselves.
func endOnServer(conn *pgconn.PgConn) ctxwatch.Handler {
	return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelPatience}
}

var (
	discardTemp = session.NewStatement("discard_temp", `DISCARD TEMP`)
	unlock      = session.NewStatement("unlock", `SELECT pg_advisory_unlock_all()`)
	unlisten    = session.NewStatement("unlisten", `UNLISTEN *`)
	closeAll    = session.NewStatement("close", `CLOSE ALL`)
)

// restoring are the statements that restore a session.
var restoring = []session.Statement{session.Reset, session.Give, session.Intact, discardTemp, unlock, unlisten, closeAll}

// Settings restores the settings of the session.
func Settings(s *session.Session) []pipeline.Statement {
	return []pipeline.Statement{{Is: session.Reset}, {Is: session.Give, Args: s.Given()}}
}

// Intact refuses the transaction if settings were changed, and not restored.
func Intact(s *session.Session) pipeline.Statement {
	return pipeline.Statement{Is: session.Intact, Args: s.Kept()}
}

// Restore takes back what a handler changed for the session and what would change the meaning
// of the statements after it: settings, the role, temporary tables.
func Restore(s *session.Session) []pipeline.Statement {
	return append(Settings(s), pipeline.Statement{Is: discardTemp})
}

// RestoreAll takes back what outlives a transaction, too. It is for a connection that goes
// back into the pool.
func RestoreAll(s *session.Session) []pipeline.Statement {
	return append(Restore(s), pipeline.Statement{Is: unlock}, pipeline.Statement{Is: unlisten}, pipeline.Statement{Is: closeAll})
}

// Abandon ends a failed transaction: by ROLLBACK if the connection is sound, else by
// closing it. The time of the transaction may be over; that of its end begins now.
func Abandon(ctx context.Context, conn *pgx.Conn) {
	if StateOf(conn.PgConn()).Kept {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelPatience)
	defer cancel()
	if !conn.IsClosed() && !conn.PgConn().IsBusy() {
		p := pipeline.New(ctx, conn)
		p.End("ROLLBACK")
		if _, err, unclean := p.RunThen(RestoreAll(session.Of(conn.PgConn()))...); err == nil && unclean == nil {
			return
		}
	}
	_ = conn.Close(ctx) // it is of no use any more, whatever Close says
}
