package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// markSetting is the setting that contains the mark of a session.
const markSetting = "idem.session"

// Error means that sessions do not meet the runtime's requirements. Retrying does not help: an
// operator must change the pooler or the database.
type Error struct {
	Reason string
	Err    error // may be nil
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Reason
	}
	return e.Reason + ": " + e.Err.Error()
}

// Unwrap returns the error of the database.
func (e *Error) Unwrap() error { return e.Err }

// Transaction describes the problem with a pooler in transaction mode, and its solution.
const Transaction = "a connection pooler in transaction or statement mode is between the service and the database: settings and prepared statements " +
	"do not stay with the connection, so those of another client could affect what is written; set pool_mode = session for the service's database or user, or connect to the server itself"

// Verify reads the session back: the connection must still lead to the same backend, which must
// have the mark and the settings. A difference can only be caused by a pooler, or by a program
// that shares the session.
func (s *Session) Verify(ctx context.Context, conn *pgx.Conn) error {
	var names []string
	for name := range s.relied {
		names = append(names, name)
	}
	rows, err := conn.Query(ctx, `SELECT name, coalesce(pg_catalog.current_setting(name, true), ''), pg_catalog.pg_backend_pid() FROM pg_catalog.unnest($1::text[]) AS s (name)`, pgx.QueryExecModeExec, names)
	if err != nil {
		return err
	}
	var name, value string
	var pid int32
	var other error
	_, err = pgx.ForEachRow(rows, []any{&name, &value, &pid}, func() error {
		switch {
		case pid != s.pid || name == markSetting && value != s.mark:
			other = &Error{Reason: Transaction}
		case value != s.relied[name] && other == nil:
			other = &Error{Reason: fmt.Sprintf("the setting %s was set to %q, but is %q: is there a pooler, or a trigger or function that changes it?", name, s.relied[name], value)}
		}
		return nil
	})
	return errors.Join(err, other)
}

const (
	probes = 5
	// patience is how long a query that waits for nothing may take on a connection that has its
	// own session.
	patience = 5 * time.Second
)

// Probe checks, with two connections, whether each keeps its session while the other is in a
// transaction. Poolers assign the server's connections last in, first out, or in rotation. Probe
// detects both, even if few connections are free.
func Probe(ctx context.Context, a, b *pgx.Conn) error {
	sa, sb := Of(a.PgConn()), Of(b.PgConn())
	tries := 1
	if sa.pooled || sb.pooled {
		tries = probes
	}
	for range tries {
		for range 2 { // in rotation, each leads to another
			if err := sa.Verify(ctx, a); err != nil {
				return err
			}
		}
		if err := probe(ctx, a, b); err != nil {
			return err
		}
	}
	return nil
}

// probe reads the session of a while b is in a transaction.
func probe(ctx context.Context, a, b *pgx.Conn) error {
	sa, sb := Of(a.PgConn()), Of(b.PgConn())
	if _, err := b.PgConn().Exec(ctx, "BEGIN").ReadAll(); err != nil {
		if statementMode(err) {
			return &Error{Reason: Transaction, Err: err}
		}
		return err
	}
	if err := sb.Verify(ctx, b); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := sa.Verify(short, a)
	if sa.pooled && short.Err() != nil && ctx.Err() == nil && sb.Verify(ctx, b) == nil {
		// b has a reply, and a waits for what b holds: the pooler has only one connection.
		return &Error{Reason: Transaction, Err: err}
	}
	_, ended := b.PgConn().Exec(ctx, "ROLLBACK").ReadAll()
	return errors.Join(err, ended)
}

// statementMode recognizes PgBouncer's error for a transaction in statement mode.
func statementMode(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.Contains(pg.Message, "statement pooling mode")
}

// Explain adds advice to an error of a pooler while connecting that would recur forever.
func Explain(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pg.Code != "08P01" || !strings.Contains(pg.Message, "unsupported startup parameter") {
		return err
	}
	return &Error{Reason: "a connection pooler rejects a startup parameter of the connection string: permit it with the pooler's ignore_startup_parameters, " +
		"the runtime then sets it itself, or take it out of the connection string", Err: pg} // its text has no address
}
