package verdict

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// describe returns an error of the database without its message, detail and statements, which may
// quote values of a record.
func describe(pg *pgconn.PgError) string {
	if pg.TableName == stepRefused {
		return refusal(pg.Detail)
	}
	if name := session.Changed(pg); name != "" {
		return "a trigger or a function changed the setting " + name
	}
	text := "SQLSTATE " + pg.Code
	words := outage.State(pg.Code)
	if noPartition(pg) {
		words = "no partition of the table accepts the row"
	}
	if wraparound(pg) {
		words = "the server is close to the wraparound of transaction ids, and needs a VACUUM of the whole database"
	}
	if Raised(pg) && OfState(pg) != Data { // it may have another reason than the server would
		words = strings.TrimSpace("raised by a function " + strings.TrimPrefix(`as "`+words+`"`, `as ""`))
	}
	if words != "" {
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

// stepRefused is the table into which a step that must fail inserts the reason and the name of its
// table. The table rejects every row.
const stepRefused = "idem_step_refused"

// refusal extracts both from "Failing row contains (no row with this key, orders).", in any
// language.
func refusal(detail string) string {
	_, rest, _ := strings.Cut(detail, "(")
	row, _, _ := strings.Cut(rest, ")")
	parts := strings.Split(row, ", ")
	if len(parts) != 2 {
		return "a step could not do what the spec says"
	}
	return parts[0] + " in table " + parts[1]
}

// Describe returns an error as it may be shown: without what the database quotes, and not longer
// than a reason is kept. Errors of the server about the
// schema and about rights keep their message: it names tables and columns, and operators need it.
func Describe(err error) error { return shorten(described(err)) }

func described(err error) error {
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
	if s, ok := errors.AsType[*sealed](err); ok { // which was described with everything that the server sent
		return s
	}
	return &sealed{wrapped(err, pg) + readColumns(err, pg), err}
}

// readColumn is where a step lets Postgres read a column's value from a text: its type and name.
var readColumn = regexp.MustCompile(`::text\[\]\)::([a-z0-9_."]+)(?:\[\])? AS ("(?:[^"]|"")+"|[a-z0-9_]+)`)

// unread are the SQLSTATEs of a text that is not a value of its type. A number that is out of
// range has one of them, too; the message then names its type.
var (
	unread  = []string{"22000", "22003", "22007", "22008", "22009", "22015", "22023", "22P02"}
	numbers = []string{"smallint", "integer", "bigint", "numeric", "real"}
)

// readColumns names the columns whose text Postgres may have rejected: those of the step that have
// the type that the message names before it quotes the text, or all.
func readColumns(err error, pg *pgconn.PgError) string {
	step, ok := errors.AsType[*Write](err)
	if !ok || !slices.Contains(unread, pg.Code) || pg.Where != "" {
		return ""
	}
	said := pg.Message
	if quote := strings.IndexAny(said, `:"'„«»“「`); quote >= 0 {
		said = said[:quote]
	}
	words := strings.Fields(strings.ReplaceAll(said, "time with time zone", "timetz"))
	var named, all []string
	for _, m := range readColumn.FindAllStringSubmatch(step.SQL, -1) {
		column := m[2]
		if column[0] == '"' {
			column = strings.ReplaceAll(column[1:len(column)-1], `""`, `"`)
		}
		switch {
		case m[1] == "text" || m[1] == "bpchar" || m[1] == "citext": // which take every text
		case slices.Contains(words, m[1]):
			named = append(named, column)
		default:
			all = append(all, column)
		}
	}
	if number := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(numbers, w) }); named == nil && !number {
		named = all
	}
	if named == nil {
		return ""
	}
	return ", column " + strings.Join(named, " or ")
}

// wrapped describes an error that wraps one of the database. It keeps the text around the inner
// error, which is the handler's own. If the text quotes the database in another way, it is
// dropped.
func wrapped(err error, pg *pgconn.PgError) string {
	text := describe(pg)
	before, after, found := strings.Cut(err.Error(), pg.Error())
	if around := before + after; !found || strings.Contains(around, pg.Message) || pg.Detail != "" && strings.Contains(around, pg.Detail) {
		return text
	}
	return before + text + after
}
