package verdict

import (
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
)

// Halt says that a partition must stand until a person acts.
type Halt struct {
	Code   halt.Code
	Offset int64  // of the record before which the partition is halted; -1 if it was not read
	Reason string // for people
	Err    error  // what happened; may be nil
	Args   string // of the command that ends it, where that needs more than the stream's name
	Reread string // the same of the command that reads the topic again instead; "" if there is none
	Pass   bool   // the record may be the cause, although the code does not say so
}

func (h *Halt) Error() string {
	if h.Err == nil {
		return h.Reason
	}
	return h.Reason + ": " + h.Err.Error()
}

// Unwrap is what happened.
func (h *Halt) Unwrap() error { return h.Err }

// Later says that nothing is wrong with the records: the same batch again, later.
type Later struct {
	Err   error
	After time.Duration // 0 is the caller's own pause
}

func (e *Later) Error() string { return "will be retried: " + e.Err.Error() }

// Unwrap is why.
func (e *Later) Unwrap() error { return e.Err }

// PoolerText says what a person must know of a halt because of a connection pooler.
const PoolerText = "another session answers than the one that the connection was given: a connection pooler in transaction mode is between the service and the database; use its session mode, or connect directly, and restart the service, which is enough; the command alone is not"
