package verdict

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Limit is a timeout that may have ended a statement.
type Limit struct {
	Name string // as shown in messages
	Most time.Duration
	Of   string // which records took too long; "" if the surrounding text says so
}

// overdueError says which limit was exceeded, and by what.
type overdueError struct {
	limit string // "limits.batch_timeout (30s) was exceeded"
	of    string
	err   error
}

func (e *overdueError) Error() string {
	of := e.of
	if of != "" {
		of = " " + of
	}
	return fmt.Sprintf("%s%s: %v", e.limit, of, Describe(e.err))
}
func (e *overdueError) Unwrap() error { return seal(e.err) }

const (
	wasOver     = "%s (%v) was exceeded"
	orCancelled = "%s (%v) was exceeded, or somebody canceled the statement"
)

// Overdue adds the name of the limit to an error that a limit may have caused: limit if ctx, whose
// deadline it is, has expired; otherwise the server's own limit. Other errors are returned
// unchanged.
func Overdue(ctx context.Context, err error, limit Limit, limits *wire.Limits) error {
	if _, named := errors.AsType[*overdueError](err); named || err == nil {
		return err
	}
	class := Of(err)
	switch pg, _ := errors.AsType[*pgconn.PgError](err); {
	case class == Timeout && pg.Code == "25P04": // the server's own timeout came first
		return &overdueError{fmt.Sprintf(wasOver, "limits.batch_timeout", limits.BatchTimeout), limit.Of, err}
	case OutOfTime(ctx) && (class == Timeout || class == Doubt || class == Unsent):
		return &overdueError{fmt.Sprintf(wasOver, limit.Name, limit.Most), limit.Of, err}
	case class == Timeout:
		return &overdueError{fmt.Sprintf(orCancelled, "statement_timeout", limits.StatementTimeout), limit.Of, err}
	}
	return err
}

// OwnContext says in an error of a handler that a context which the handler made has ended. by
// is why the context of the failed statement had ended, or nil. It is for a call whose own
// context has not ended. Other errors are returned unchanged.
func OwnContext(err, by error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		if pg.Code != "57014" {
			return err
		}
	} else {
		by = err
	}
	switch {
	case errors.Is(by, context.DeadlineExceeded):
		return &overdueError{limit: "a context of the handler's own passed its deadline", err: err}
	case errors.Is(by, context.Canceled):
		return &overdueError{limit: "the handler canceled a context of its own", err: err}
	}
	return err
}

// OutOfTime reports whether ctx has ended, or is about to end, because of its deadline.
func OutOfTime(ctx context.Context) bool {
	if err := ctx.Err(); err != nil {
		return errors.Is(err, context.DeadlineExceeded)
	}
	end, ok := ctx.Deadline()
	return ok && !time.Now().Before(end)
}
