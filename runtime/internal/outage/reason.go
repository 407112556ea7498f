package outage

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Reason is an error of a service as a whole, with what an operator needs to know of it.
type Reason struct {
	Code  string // identifies the kind of error
	Do    string // what to do
	Waits bool   // it usually ends by itself: it is a fault only if it lasts
	Err   error
}

func (r *Reason) Error() string { return r.Err.Error() }

// Unwrap returns the error.
func (r *Reason) Unwrap() error { return r.Err }

// Unavailable is the code of a database or of brokers that cannot be used.
const Unavailable = "unavailable"

// JoinAdvice is what to do until a group has assigned its partitions.
const JoinAdvice = "wait: after a process was killed, for as long as the session of its member lasts"

// LockAdvice is what to do about a lock that another session holds. Readers that ask the database
// who holds it say more.
const LockAdvice = "wait: the runtime keeps retrying; if it lasts, end the session that holds the lock: the console and doctor name it"

// Waits reports whether an error means that a lock was not acquired in time.
func Waits(err error) bool {
	pg, is := errors.AsType[*pgconn.PgError](err)
	return is && pg.Code == "55P03"
}

// ReasonOf returns the Reason of an error, or one that says nothing more about it.
func ReasonOf(err error) *Reason {
	if r, ok := errors.AsType[*Reason](err); ok {
		return r
	}
	if Waits(err) {
		return &Reason{Code: Unavailable, Do: LockAdvice, Err: err}
	}
	if right, ok := errors.AsType[*MissingRight](err); ok && right.Grant != "" {
		return &Reason{Code: Unavailable, Do: right.Grant + ": the runtime keeps retrying", Err: err}
	}
	if _, ok := errors.AsType[*Unreachable](err); ok {
		return &Reason{Code: Unavailable, Do: "see whether the database runs and this machine reaches it; if it rejects the login or the certificate, correct user, password, sslmode or sslrootcert in its address; the runtime keeps retrying", Err: err}
	}
	return &Reason{Code: Unavailable, Do: "wait: the runtime keeps retrying; if it lasts, remove the cause", Err: err}
}
