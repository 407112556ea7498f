package handler

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// handlerRows are the rows of a handler's query.
type handlerRows struct {
	pgx.Rows
	of  *handlerTx
	sql string // "" if it is not known
}

func (r handlerRows) Conn() *pgx.Conn { return r.of.conn() }
func (r handlerRows) Err() error      { return r.of.said(r.sql, r.Rows.Err()) }

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

// answer is the answer to a queued statement, as a callback receives it.
type answer struct{ rows handlerRows }

func (a answer) Exec() (pgconn.CommandTag, error) {
	a.rows.Close()
	return a.rows.CommandTag(), a.rows.Err()
}

func (a answer) Query() (pgx.Rows, error) { return a.rows, a.rows.Err() }
func (a answer) QueryRow() pgx.Row        { return oneRow(a) }
func (answer) Tx() pgx.Tx                 { return nil }

func (a answer) Close() error {
	a.rows.Close()
	return a.rows.Err()
}

// oneRow is the first row of an answer.
type oneRow struct{ rows handlerRows }

func (r oneRow) Scan(dest ...any) error {
	defer r.rows.Close()
	if !r.rows.Next() {
		return cmp.Or(r.rows.Err(), pgx.ErrNoRows)
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}

// said returns an error as a handler receives it: without the value, and with advice if the text
// has several statements.
func said(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "42601" && pg.Routine == "exec_parse_message" {
		return fmt.Errorf("an SQL text must be one statement; send several as a Batch: %w", err)
	}
	return verdict.WithoutValue(err)
}

// said returns an error of a statement as a handler receives it. It names a right that is missing.
func (h *handlerTx) said(sql string, err error) error { return said(h.of.in.named(sql, err)) }

// named returns an error with the right that the role lacks, if that is the cause.
func (t *Transaction) named(sql string, err error) error {
	return outage.NameRight(err, session.Of(t.conn.PgConn()).Role(), sql)
}

// bareRow and bareResults return errors of the driver without the value.
type bareRow struct {
	pgx.Row
	of  *handlerTx
	sql string
}

func (r bareRow) Scan(dest ...any) error { return r.of.said(r.sql, r.Row.Scan(dest...)) }

type bareResults struct {
	pgx.BatchResults
	of *handlerTx
}

func (r bareResults) Exec() (pgconn.CommandTag, error) {
	tag, err := r.BatchResults.Exec()
	return tag, r.of.said("", err)
}

func (r bareResults) Query() (pgx.Rows, error) {
	rows, err := r.BatchResults.Query()
	if said := r.of.said("", err); said != err {
		return noRows{err: said}, said
	}
	return handlerRows{rows, r.of, ""}, err
}

func (r bareResults) QueryRow() pgx.Row { return bareRow{r.BatchResults.QueryRow(), r.of, ""} }
func (r bareResults) Close() error      { return r.of.said("", r.BatchResults.Close()) }
