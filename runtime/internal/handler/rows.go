package handler

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// handlerRows are rows whose connection is the handler's.
type handlerRows struct {
	pgx.Rows
	of *handlerTx
}

func (r handlerRows) Conn() *pgx.Conn { return r.of.conn() }

// noRows is the result of a query that was not sent.
type noRows struct{ err error }

func (noRows) Close()                                       {}
func (r noRows) Err() error                                 { return r.err }
func (noRows) CommandTag() (tag pgconn.CommandTag)          { return tag }
func (noRows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (noRows) RawValues() [][]byte                          { return nil }
func (r noRows) Values() ([]any, error)                     { return nil, r.err }
func (noRows) Conn() *pgx.Conn                              { return nil }
func (noRows) TypeMap() *pgtype.Map                         { return nil }
func (noRows) Next() bool                                   { return false }
func (r noRows) Scan(...any) error                          { return r.err }

// bareRow and bareResults tell errors of the driver without the value.
type bareRow struct{ pgx.Row }

func (r bareRow) Scan(dest ...any) error { return verdict.WithoutValue(r.Row.Scan(dest...)) }

type bareResults struct {
	pgx.BatchResults
	of *handlerTx
}

func (r bareResults) Exec() (pgconn.CommandTag, error) {
	tag, err := r.BatchResults.Exec()
	return tag, verdict.WithoutValue(err)
}

func (r bareResults) Query() (pgx.Rows, error) {
	rows, err := r.BatchResults.Query()
	if bare := verdict.WithoutValue(err); bare != err {
		return noRows{err: bare}, bare
	}
	return handlerRows{rows, r.of}, err
}

func (r bareResults) QueryRow() pgx.Row { return bareRow{r.BatchResults.QueryRow()} }
func (r bareResults) Close() error      { return verdict.WithoutValue(r.BatchResults.Close()) }
