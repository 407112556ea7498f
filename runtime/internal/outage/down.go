package outage

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Down reports whether err is that of a database that cannot be used: it cannot be reached, does
// not answer, or says that it takes no work now. Other work than what failed is then likely to
// fail, too. It is false for a statement that the server rejected, such as for a missing right, a
// lock, or a limit of time.
func Down(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case *Unreachable, *pgconn.ConnectError:
		return true
	case *pgconn.PgError:
		return down(e.Code)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if Down(inner) {
				return true
			}
		}
		return false
	}
	return own(err) != "" || Down(errors.Unwrap(err))
}

// down reports whether an SQLSTATE is about the server and not about the statement: a lost
// connection, a lack of resources, a shutdown, a failed disk, or a standby.
func down(code string) bool {
	if len(code) != 5 {
		return false
	}
	switch code[:2] {
	case "08", "53", "58":
		return true
	}
	return code[:3] == "57P" || code == "25006"
}
