package idem

import (
	"time"

	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// ErrNotImplemented is what a scaffolded handler returns. It halts the partition before
// the event, so that nothing is lost while the handler is missing.
var ErrNotImplemented = verdict.ErrNotImplemented

// ErrTxOwned is returned by Commit and Rollback of [PgxTx]: the runtime ends the transaction.
var ErrTxOwned = handler.ErrTxOwned

// Permanent marks a handler's error: the event becomes a dead letter now, without retries.
func Permanent(err error) error { return verdict.Permanent(err) }

// RetryAfter marks a handler's error: the batch is tried again after d, and the attempt does
// not count against on_failure.retries. A negative d means the usual backoff.
func RetryAfter(d time.Duration, err error) error { return verdict.RetryAfter(d, err) }

// Unavailable marks an effect's error: the other side is away, or has too much to do, and would be
// for any event. The call is made again after the usual backoff, until it works, and does not
// count against on_failure.retries. It says that nothing was done, unless [Interrupted] is in it.
// The runtime itself takes an error so that says that a connection could not be opened.
func Unavailable(err error) error { return verdict.Unavailable(err) }

// Interrupted marks an effect's error: nobody knows what the call did. Under if_interrupted:
// dead_letter the event waits for a person then, and no call is made again. There the runtime
// takes every error so that is not marked by Unavailable, [NotDone], [Permanent] or [RetryAfter].
func Interrupted(err error) error { return verdict.Interrupted(err) }

// NotDone marks an effect's error: the call surely did nothing, so that it may be made again.
func NotDone(err error) error { return verdict.NotDone(err) }
