package idem

import (
	"time"

	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// ErrNotImplemented is returned by scaffolded handlers and effects. It halts the partition before
// the event, so no event is lost while the handler is missing.
var ErrNotImplemented = verdict.ErrNotImplemented

// ErrTxOwned is returned by Commit and Rollback of a [PgxTx]: the runtime ends the transaction.
var ErrTxOwned = handler.ErrTxOwned

// Permanent marks an error of a handler or an effect: it is not retried. The event becomes a dead
// letter, or its partition halts (give_up: stop). Like the other marks, it returns nil for nil.
func Permanent(err error) error { return verdict.Permanent(err) }

// RetryAfter marks an error of a handler or an effect: the batch or the call is retried after d,
// and the attempt does not count against on_failure.retries. A negative d means the usual backoff.
// With a d of zero, an effect is called again at once, and a batch is retried after 50 ms, then
// after longer pauses of up to 5 s.
func RetryAfter(d time.Duration, err error) error { return verdict.RetryAfter(d, err) }

// Unavailable marks an effect's error: the provider is down or overloaded, for any event. The call
// is retried after the usual backoff until it succeeds, and does not count against
// on_failure.retries. The mark says that the call did nothing, unless the error wraps
// [Interrupted]. The runtime treats an error that says that a connection could not be opened as
// Unavailable.
func Unavailable(err error) error { return verdict.Unavailable(err) }

// Interrupted marks an effect's error: the outcome of the call is unknown. Under if_interrupted:
// dead_letter the event then waits for an operator, and the call is not repeated. In that mode the
// runtime treats every error as Interrupted, unless it is marked by Unavailable, [NotDone],
// [Permanent] or [RetryAfter], is [ErrNotImplemented], or says that a connection could not be
// opened. An error that wraps Interrupted is Interrupted, whatever mark is around it, except
// NotDone: of these two, the outer one counts.
func Interrupted(err error) error { return verdict.Interrupted(err) }

// NotDone marks an effect's error: the call certainly did nothing, so it may be repeated.
func NotDone(err error) error { return verdict.NotDone(err) }
