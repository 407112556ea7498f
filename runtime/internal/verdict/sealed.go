package verdict

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// sealed is an error that may quote values of a record, under a text that does not. It answers
// errors.Is and errors.As for what is in it, but nobody can unwrap it.
type sealed struct {
	text string
	err  error
}

func (e *sealed) Error() string { return e.text }

// Is reports whether target is in the error.
func (e *sealed) Is(target error) bool { return errors.Is(e.err, target) }

// As finds what is in the error. Of an error of the database it gives what is safe.
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

// withoutValues is an error of the database without its message, detail, hint and context, which
// may quote values of a record.
func withoutValues(pg *pgconn.PgError) *pgconn.PgError {
	return &pgconn.PgError{
		Severity: pg.Severity, SeverityUnlocalized: pg.SeverityUnlocalized, Code: pg.Code,
		Message:    "the message may quote values and is not shown",
		SchemaName: pg.SchemaName, TableName: pg.TableName, ColumnName: pg.ColumnName,
		DataTypeName: pg.DataTypeName, ConstraintName: pg.ConstraintName,
		File: pg.File, Line: pg.Line, Routine: pg.Routine,
	}
}

// seal seals an error that holds one of the database.
func seal(err error) error {
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok {
		return err
	}
	return &sealed{Describe(err).Error(), err}
}
