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
