package outage

import (
	"cmp"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unreachable means that there is no connection to the database. Its text has the cause, and is
// the same for the next attempt.
type Unreachable struct{ Err error }

func (e *Unreachable) Error() string {
	if locked, ok := errors.AsType[*Locked](e.Err); ok {
		return locked.Error()
	}
	return "no connection to the database: " + cmp.Or(Words(e.Err), WithoutAddress(e.Err).Error())
}

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// WithoutAddress removes what an error of connecting quotes from the address. If the address is
// mistyped, the user, the database or a setting in it may contain a part of the password.
func WithoutAddress(err error) error {
	connecting, ok := errors.AsType[*pgconn.ConnectError](err)
	if !ok {
		return err
	}
	words := Words(err)
	if pg, answered := errors.AsType[*pgconn.PgError](err); answered && words == "" {
		words = "the server rejected the connection: SQLSTATE " + pg.Code
	}
	return &worded{cmp.Or(words, connecting.Unwrap().Error()), err}
}

// Locked means that a table is locked, so statements cannot be prepared on new connections.
type Locked struct {
	Table string
	Err   error
}

func (e *Locked) Error() string {
	return e.Table + " is locked by another session (see pg_locks), and statements on it cannot be prepared: " + cmp.Or(Words(e.Err), e.Err.Error())
}

// Unwrap returns the error of the server.
func (e *Locked) Unwrap() error { return e.Err }
