package idem

import (
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/pgerror"
)

// ErrNotImplemented is what a scaffolded handler returns. It halts the partition before
// the event, so that nothing is lost while the handler is missing.
var ErrNotImplemented = errors.New("the handler is not implemented")

// ErrTxOwned is returned by Commit and Rollback of [PgxTx]: the runtime ends the transaction.
var ErrTxOwned = errors.New("idem: the transaction belongs to the runtime, which commits it")

// FencedError says that another owner appended to the partition's ledger. Nothing of the
// batch took effect; the partition must be taken over again before it is written.
type FencedError struct {
	Partition Partition
	Reason    string // "another owner appended", "an operator appended", "the predecessor is gone"
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("%s/%d: fenced: %s", e.Partition.Topic, e.Partition.Number, e.Reason)
}

// HaltedError says that a partition stands and needs a person.
type HaltedError struct {
	Partition Partition
	Offset    int64 // of the record it stands before; -1 if it was not read
	Code      halt.Code
	Reason    string
	Remedy    string // the command that makes the partition go on, once the cause is gone
	Pass      string // the command that passes the record without effect instead; "" where none does
	Err       error  // what happened; may be nil
}

func (e *HaltedError) Error() string {
	text := fmt.Sprintf("%s/%d: halted: %s", e.Partition.Topic, e.Partition.Number, e.Reason)
	if e.Offset >= 0 {
		text = fmt.Sprintf("%s/%d: halted before offset %d: %s", e.Partition.Topic, e.Partition.Number, e.Offset, e.Reason)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		text += " [" + string(e.Code) + "; then: " + e.Remedy + "]"
	}
	if e.Pass != "" {
		text += " [or pass the record without effect, which loses it: " + e.Pass + "]"
	}
	return text
}

// Unwrap returns what happened.
func (e *HaltedError) Unwrap() error { return e.Err }

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
