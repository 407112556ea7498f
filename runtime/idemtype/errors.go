package idemtype

import (
	"fmt"

	"github.com/idemgen/idemgen/runtime/halt"
)

// FencedError says that another owner appended to the partition's ledger. Nothing of the
// batch took effect; the partition must be taken over again before it is written.
type FencedError struct {
	Partition Partition
	Reason    string // "another owner appended", "an operator appended", "the predecessor is gone"
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("%s/%d: fenced: %s", e.Partition.Topic, e.Partition.Number, e.Reason)
}

// HaltedError says that a partition is halted and needs a person.
type HaltedError struct {
	Partition Partition
	Offset    int64 // of the record that it has not passed; -1 if it was not read
	Code      halt.Code
	Reason    string
	Remedy    string // the command that makes the partition go on, once the cause is gone
	Reread    string // the command that reads the topic again from its first record instead; "" where none does
	Pass      string // the command that passes the record without effect instead; "" where none does
	Err       error  // what happened; may be nil
}

func (e *HaltedError) Error() string {
	text := fmt.Sprintf("%s/%d: HALTED: %s", e.Partition.Topic, e.Partition.Number, e.Reason)
	if e.Offset >= 0 {
		text = fmt.Sprintf("%s/%d: HALTED before offset %d: %s", e.Partition.Topic, e.Partition.Number, e.Offset, e.Reason)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		text += " [" + string(e.Code) + "; then: " + e.Remedy + "]"
	}
	if e.Reread != "" {
		text += " [with it " + halt.Skips + "] [or: " + e.Reread + "] [with it " + halt.Rereads + "]"
	}
	if e.Pass != "" {
		text += " [or pass the record without effect, which loses it: " + e.Pass + "]"
	}
	return text
}

// Unwrap returns what happened.
func (e *HaltedError) Unwrap() error { return e.Err }
