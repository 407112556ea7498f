package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/visible"
)

// DB is a *pgxpool.Pool or a *pgx.Conn. A pool is better: if the connection is lost while a row is
// written, it reconnects, so the outcome can be determined.
type DB interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// query reads all rows of a statement.
func query[T any](ctx context.Context, db DB, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, _ := db.Query(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...)
	all, err := pgx.CollectRows(rows, scan)
	return all, Explain(err)
}

// one reads the only row of a statement, and reports whether there is one.
func one(ctx context.Context, db DB, into []any, sql string, args ...any) (found bool, err error) {
	err = db.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeExec}, args...)...).Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, Explain(err)
}

// has reports whether the database has a table of the runtime. Not every service needs every
// table.
func has(ctx context.Context, db DB, table string) (is bool, err error) {
	_, err = one(ctx, db, []any{&is}, `SELECT to_regclass($1) IS NOT NULL`, table)
	return is, err
}

// Explain explains an error of the database to operators.
func Explain(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		for _, lost := range []error{pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
			if errors.Is(err, lost) {
				return fmt.Errorf("the connection to the database was lost; before you repeat a change, see whether it was made: %w", err)
			}
		}
		return err
	}
	switch pg.Code {
	case "42P01":
		return fmt.Errorf("this database lacks the runtime's tables, or has another version of them: is it the service's database? (%w)", err)
	case "42501":
		return fmt.Errorf("the database role may not do this; docs/operations.md lists the rights that it needs: %w", err)
	case "25006":
		return fmt.Errorf("this is a standby: connect to the primary: %w", err)
	}
	return err
}

// By identifies the operator of a change, and the reason. Both are stored in the ledger, or in the
// letter's row.
type By struct {
	Operator string // "" is the database role
	Reason   string // required
	DryRun   bool   // find out what would be changed, and change nothing
}

// text returns operator and reason as they are stored.
func (b By) text(ctx context.Context, db DB) (string, error) {
	why, err := oneLine("the reason", b.Reason, 500)
	if err == nil && why == "" {
		err = errors.New("a reason is required: the ledger keeps it, for later operators")
	}
	who, errWho := oneLine("the operator's name", b.Operator, 100)
	if err = errors.Join(err, errWho); err == nil && who == "" {
		_, err = one(ctx, db, []any{&who}, `SELECT session_user::text`)
	}
	return who + ": " + why, err
}

// oneLine returns a text with single blanks between its words. It rejects control characters, and
// a text that is too long for lists and errors.
func oneLine(what, text string, most int) (string, error) {
	text = strings.Join(strings.Fields(text), " ")
	if n := utf8.RuneCountInString(text); n > most {
		return "", fmt.Errorf("%s has %d characters, more than %d: keep the rest elsewhere, and say where", what, n, most)
	}
	if !printable(text) {
		return "", fmt.Errorf("%s contains characters that cannot be printed", what)
	}
	return text, nil
}

// printable reports whether a text is UTF-8 in which nothing is hidden but the ends of lines.
func printable(text string) bool {
	hidden := func(r rune) bool { return r != '\r' && visible.Hidden(r) }
	return utf8.ValidString(text) && !strings.ContainsFunc(text, hidden)
}

// count says how many there are.
func count[N int | int32 | int64](n N, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "s"):
		what += "es"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
