package verdict

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/outage"
)

// describe is what may be told of an error of the database: everything but its message, detail
// and statements, which may quote values of a record.
func describe(pg *pgconn.PgError) string {
	if pg.TableName == stepRefused {
		return refusal(pg.Detail)
	}
	text := "SQLSTATE " + pg.Code
	if words := outage.State(pg.Code); words != "" {
		text = words + ": " + text
	}
	for _, part := range []struct{ name, value string }{
		{"table", pg.TableName}, {"column", pg.ColumnName}, {"constraint", pg.ConstraintName}, {"type", pg.DataTypeName},
	} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	if frame := outage.Frame(pg.Where); frame != "" {
		text += ", " + frame
	}
	return text
}

// stepRefused is the table into which a step that cannot do what it says inserts why, with the
// table, which is refused.
const stepRefused = "idem_step_refused"

// refusal takes these out of "Failing row contains (no row with this key, orders).", in any
// language.
func refusal(detail string) string {
	_, rest, _ := strings.Cut(detail, "(")
	row, _, _ := strings.Cut(rest, ")")
	parts := strings.Split(row, ", ")
	if len(parts) != 2 {
		return "a step could not do what it says"
	}
	return parts[0] + " in table " + parts[1]
}

// Describe hides what an error of the database may quote. What the server itself says of
// the schema and of rights keeps its message: it names tables and columns, and a person
// needs it.
func Describe(err error) error {
	if late, ok := errors.AsType[*overdueError](err); ok { // which describes its cause
		return late
	}
	if gone, ok := errors.AsType[*outage.Unreachable](err); ok {
		return gone
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "42", "28", "3D", "3F":
		if !Raised(pg) {
			return &sealed{err.Error(), err}
		}
	}
	if s, ok := errors.AsType[*sealed](err); ok { // which was described with all that the server said
		return s
	}
	return &sealed{describe(pg), err}
}
