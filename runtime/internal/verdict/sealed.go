package verdict

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// sealed wraps an error that may quote values of a record, with a text that does not. It supports
// errors.Is and errors.As, but cannot be unwrapped.
type sealed struct {
	text string
	err  error
}

func (e *sealed) Error() string { return e.text }

// Is reports whether the wrapped error matches target.
func (e *sealed) Is(target error) bool { return errors.Is(e.err, target) }

// As finds an error in the wrapped one. An error of the database is returned without values.
func (e *sealed) As(target any) bool {
	into, ok := target.(**pgconn.PgError)
	if !ok {
		return errors.As(e.err, target)
	}
	pg, ok := errors.AsType[*pgconn.PgError](e.err)
	if ok {
		*into = withoutValues(pg)
	}
	return ok
}

// withoutValues returns an error of the database without its message, detail, hint and context,
// which may quote values of a record.
func withoutValues(pg *pgconn.PgError) *pgconn.PgError {
	return &pgconn.PgError{
		Severity: pg.Severity, SeverityUnlocalized: pg.SeverityUnlocalized, Code: pg.Code,
		Message:    "the message may quote values and is not shown",
		SchemaName: pg.SchemaName, TableName: pg.TableName, ColumnName: pg.ColumnName,
		DataTypeName: pg.DataTypeName, ConstraintName: pg.ConstraintName,
		File: pg.File, Line: pg.Line, Routine: pg.Routine,
	}
}

// seal seals an error that wraps one of the database.
func seal(err error) error {
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok {
		return err
	}
	return &sealed{Describe(err).Error(), err}
}
