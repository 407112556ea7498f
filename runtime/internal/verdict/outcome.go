package verdict

import (
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
)

// Halt means that a partition must stop until an operator acts.
type Halt struct {
	Code   halt.Code
	Offset int64  // of the record before which the partition is halted; -1 if it was not read
	Reason string // for operators
	Err    error  // what happened; may be nil
	// Ways end it, the first of them at least cost. They have neither the code nor the partition's
	// name. None means that the partition is released.
	Ways []halt.Way
	Pass bool // the record may be the cause, although the code does not say so
}

func (h *Halt) Error() string {
	if h.Err == nil {
		return h.Reason
	}
	return h.Reason + ": " + h.Err.Error()
}

// Unwrap returns Err.
func (h *Halt) Unwrap() error { return h.Err }

// Later means that no record is at fault: the same batch is retried later.
type Later struct {
	Err   error
	After time.Duration // 0 means the caller's own pause
}

func (e *Later) Error() string { return "will be retried: " + e.Err.Error() }

// Unwrap returns Err.
func (e *Later) Unwrap() error { return e.Err }

// PoolerText explains a halt because of a connection pooler to operators.
const PoolerText = "the connection now leads to another session: a connection pooler in transaction mode is between the service and the database; use its session mode, or connect directly, and restart the service; that is enough, but the command alone is not"
