package outage

import (
	"cmp"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unreachable says that there is no connection to the database, and why, in words that are
// the same at the next try.
type Unreachable struct{ Err error }

func (e *Unreachable) Error() string {
	if locked, ok := errors.AsType[*Locked](e.Err); ok {
		return locked.Error()
	}
	return "no connection to the database: " + cmp.Or(Words(e.Err), WithoutAddress(e.Err).Error())
}

// Unwrap is the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// WithoutAddress hides what an error of connecting quotes of the address. If that was mistyped,
// the user, the database or a setting in it may hold a part of the password.
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

// Locked says that somebody holds a table, so that no connection can have its statements prepared.
type Locked struct {
	Table string
	Err   error
}

func (e *Locked) Error() string {
	return e.Table + " is locked by another session (see pg_locks), and statements on it cannot be prepared: " + cmp.Or(Words(e.Err), e.Err.Error())
}

// Unwrap is what the server said.
func (e *Locked) Unwrap() error { return e.Err }
