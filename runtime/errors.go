package idem

import (
	"errors"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/pgerror"
)

// ErrNotImplemented is what a scaffolded handler returns. It halts the partition before
// the event, so that nothing is lost while the handler is missing.
var ErrNotImplemented = errors.New("the handler is not implemented")

// ErrTxOwned is returned by Commit and Rollback of [PgxTx]: the runtime ends the transaction.
var ErrTxOwned = errors.New("idem: the transaction belongs to the runtime, which commits it")

// Permanent marks a handler's error: the event becomes a dead letter now, without retries.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// RetryAfter marks a handler's error: the batch is tried again after d, and the attempt does
// not count against on_failure.retries. A negative d means the usual backoff.
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

// IsPermanent reports whether err can never be cured by trying again: an error marked with
// [Permanent], a record that does not decode, a key with other content, or a value that
// the database refuses (SQLSTATE classes 21, 22, 23, 44, 54 and P0001).
func IsPermanent(err error) bool {
	if _, ok := errors.AsType[*permanentError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*DecodeError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*ConflictError](err); ok {
		return true
	}
	return pgerror.Of(err) == pgerror.Data
}
