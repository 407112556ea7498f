package verdict

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/wire"
)

// ErrNotImplemented is the error that a scaffolded handler returns.
var ErrNotImplemented = errors.New("not implemented")

// HandlerError is an error of a handler's call.
type HandlerError struct {
	Call   *wire.Call
	Err    error
	Outage bool // the connection was lost
	Late   bool // the batch timed out, not the event
}

func (e *HandlerError) Error() string {
	return fmt.Sprintf("handler %s, offset %d: %v", e.Call.Event, e.Call.Message.Offset, Describe(e.Err))
}

// Unwrap returns the error of the handler.
func (e *HandlerError) Unwrap() error { return seal(e.Err) }

// CommitRefused reports whether an error comes from the trigger that permits only the runtime to
// commit a transaction of handlers (templates/sql/idem_core_1.sql).
func CommitRefused(pg *pgconn.PgError) bool {
	return pg.Code == "2D000" && pg.TableName == "idem_ledger" && pg.ConstraintName == "idem_ledger_commit"
}

// Permanent marks a handler's error: the event becomes a dead letter immediately, without retries.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// SaidPermanent reports whether err was marked by [Permanent].
func SaidPermanent(err error) bool {
	_, ok := errors.AsType[*permanentError](err)
	return ok
}

// IsPermanent reports whether retrying can never succeed.
func IsPermanent(err error) bool {
	if SaidPermanent(err) {
		return true
	}
	if _, ok := errors.AsType[*wire.DecodeError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*wire.ConflictError](err); ok {
		return true
	}
	return Of(err) == Data
}

// RetryAfter marks a handler's error: the batch is retried after d, and the attempt does not
// count.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &retryError{err, d}
}

type retryError struct {
	error
	after time.Duration
}

func (e *retryError) Unwrap() error { return e.error }

// Pause reports whether a handler requested a retry after a pause, and returns the pause; a
// negative pause means the usual one.
func Pause(err error) (after time.Duration, asked bool) {
	r, asked := errors.AsType[*retryError](err)
	if !asked {
		return 0, false
	}
	return r.after, true
}

// Interrupted marks an effect's error: the outcome of the call is unknown.
func Interrupted(err error) error { return said(err, true) }

// NotDone marks an effect's error: the call certainly did nothing.
func NotDone(err error) error { return said(err, false) }

// Unavailable marks an effect's error: the provider is down or overloaded.
func Unavailable(err error) error {
	if err == nil {
		return nil
	}
	return &unavailableError{err}
}

type unavailableError struct{ error }

func (e *unavailableError) Unwrap() error { return e.error }

// IsUnavailable reports whether an effect failed because of the provider, for any event: the error
// is marked so, or a connection could not be opened.
func IsUnavailable(err error) bool {
	_, marked := errors.AsType[*unavailableError](err)
	return marked || NeverConnected(err)
}

// NeverConnected reports whether a connection to the provider, or to a proxy in front of it, could
// not be opened: nothing was sent to the provider.
func NeverConnected(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect")
}

func said(err error, unknown bool) error {
	if err == nil {
		return nil
	}
	return &saidError{err, unknown}
}

type saidError struct {
	error
	unknown bool
}

func (e *saidError) Unwrap() error { return e.error }

// SaidUnknown reports whether an effect's error is marked with the outcome of the call, and if so,
// whether the outcome is unknown.
func SaidUnknown(err error) (unknown, said bool) {
	s, said := errors.AsType[*saidError](err)
	return said && s.unknown, said
}
