package idem

import (
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// driverError is an error of the driver about a value that does not fit its column. The
// driver's own text quotes the value, and a handler's error becomes a dead letter's reason.
type driverError struct {
	where string
	error
}

func (e *driverError) Error() string {
	return e.where + "the driver cannot encode a value of a statement"
}
func (e *driverError) Unwrap() error { return e.error }

// withoutValue hides the value in an error of the driver. Such errors have no type.
func withoutValue(err error) error {
	if err == nil {
		return nil
	}
	where, _, quotes := strings.Cut(err.Error(), "unable to encode")
	if !quotes {
		return err
	}
	if !strings.HasPrefix(where, "failed to encode args[") {
		where = ""
	}
	return &driverError{where, err}
}

// bareRow and bareResults tell errors of the driver without the value.
type bareRow struct{ pgx.Row }

func (r bareRow) Scan(dest ...any) error { return withoutValue(r.Row.Scan(dest...)) }

type bareResults struct {
	pgx.BatchResults
	of *handlerTx
}

func (r bareResults) Exec() (pgconn.CommandTag, error) {
	tag, err := r.BatchResults.Exec()
	return tag, withoutValue(err)
}

func (r bareResults) Query() (pgx.Rows, error) {
	rows, err := r.BatchResults.Query()
	if bare := withoutValue(err); bare != err {
		return noRows{err: bare}, bare
	}
	return handlerRows{rows, r.of}, err
}

func (r bareResults) QueryRow() pgx.Row { return bareRow{r.BatchResults.QueryRow()} }
func (r bareResults) Close() error      { return withoutValue(r.BatchResults.Close()) }
