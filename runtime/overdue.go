package idem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/idemgen/idemgen/runtime/internal/pgerror"
)

// cancelPatience is how long a statement whose time is over may take to end when the server
// is told to cancel it. Who has heard nothing by then gives the connection up.
const cancelPatience = 5 * time.Second

// endOnServer has the server cancel a statement whose context ends, and waits for the answer:
// the next try must not find the last one at work. The driver's own way is to leave the
// connection, and the statement, to themselves.
func endOnServer(conn *pgconn.PgConn) ctxwatch.Handler {
	return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelPatience}
}

// overdueError says which limit was over, and of what.
type overdueError struct {
	limit string // "batch_timeout (30s) was over"
	of    string // which records took so long; "" if the text around says it
	err   error
}

func (e *overdueError) Error() string {
	of := e.of
	if of != "" {
		of = " " + of
	}
	return fmt.Sprintf("limits.%s%s: %v", e.limit, of, describe(e.err))
}
func (e *overdueError) Unwrap() error { return e.err }

const (
	wasOver     = "%s (%v) was over"
	orCancelled = "%s (%v) was over, or somebody cancelled the statement"
)

// overdue names the limit for an error that a limit may have caused: the one of ctx if that
// is over, else the server's own. Other errors stay as they are.
func (o *owner) overdue(ctx context.Context, name string, most time.Duration, of string, err error) error {
	if _, named := errors.AsType[*overdueError](err); named || err == nil {
		return err
	}
	class, limits := pgerror.Of(err), o.c.service.Limits
	switch pg, _ := errors.AsType[*pgconn.PgError](err); {
	case class == pgerror.Timeout && pg.Code == "25P04": // the server's own clock was first
		return &overdueError{fmt.Sprintf(wasOver, "batch_timeout", limits.BatchTimeout), of, err}
	case outOfTime(ctx) && (class == pgerror.Timeout || class == pgerror.Doubt || class == pgerror.Unsent):
		return &overdueError{fmt.Sprintf(wasOver, name, most), of, err}
	case class == pgerror.Timeout:
		return &overdueError{fmt.Sprintf(orCancelled, "statement_timeout", limits.StatementTimeout), of, err}
	}
	return err
}

// outOfTime reports whether ctx ended, or is about to, because its time is over.
func outOfTime(ctx context.Context) bool {
	if err := ctx.Err(); err != nil {
		return errors.Is(err, context.DeadlineExceeded)
	}
	end, ok := ctx.Deadline()
	return ok && !time.Now().Before(end)
}
