package verdict

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// The reason names the column whose text the server rejected: the one that has the type of the
// message, in any language, else each that may be meant. No word of the text is in it.
func TestRejectedTextsNameTheColumn(t *testing.T) {
	const step = `SELECT unnest($1::uuid[]) AS id, unnest($2::text[])::bpchar AS code, unnest($3::text[])::inet AS host,
		unnest($4::text[])::time AS opens, unnest($5::text[])::timetz AS closes, unnest($6::text[])::inet[] AS "All ""hosts""", unnest($7::integer[])::smallint AS slot`
	for _, c := range []struct{ code, message, where, want string }{
		{"22P02", `invalid input syntax for type inet: "time"`, "", `, column host or All "hosts"`},
		{"22007", `invalid input syntax for type time: "inet"`, "", ", column opens"},
		{"22007", `invalid input syntax for type time with time zone: "x"`, "", ", column closes"},
		{"22007", `ungültige Eingabesyntax für Typ time: „inet“`, "", ", column opens"},
		{"22008", `date/time field value out of range: "inet"`, "", `, column host or opens or closes or All "hosts"`},
		{"22P02", `"time" is not a valid binary digit`, "", `, column host or opens or closes or All "hosts"`},
		{"22003", `smallint out of range`, "", ""},
		{"22P02", `invalid input syntax for type inet: "x"`, "PL/pgSQL function f() line 1", ""},
		{"23502", `null value in column "host" violates not-null constraint`, "", ""},
	} {
		pg := &pgconn.PgError{Code: c.code, Message: c.message, Where: c.where}
		plain := Describe(&Write{Err: pg}).Error()
		if got := Describe(fmt.Errorf("again: %w", &Write{Err: pg, SQL: step})).Error(); got != "again: "+plain+c.want {
			t.Errorf("%s: %q, want %q", c.message, got, plain+c.want)
		}
	}
}
