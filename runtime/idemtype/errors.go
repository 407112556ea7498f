package idemtype

import (
	"fmt"

	"github.com/idemgen/idemgen/runtime/halt"
)

// FencedError says that this process does not own the partition, or no longer: another owner or an
// operator appended to its ledger, or it was given up. The transaction that was refused has no
// effect; earlier ones of the same batch remain. The partition must be taken over before it is
// written again.
type FencedError struct {
	Partition Partition
	Reason    string // for people
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("%s/%d: fenced: %s", e.Partition.Topic, e.Partition.Number, e.Reason)
}

// HaltedError says that a partition is halted until an operator acts.
type HaltedError struct {
	Partition Partition
	Offset    int64 // of the record at which it is halted; -1 if it was not read
	Code      halt.Code
	Reason    string
	Ways      []halt.Way // each resumes the partition once the cause is gone, the first at least cost
	Err       error      // what happened; may be nil
}

func (e *HaltedError) Error() string {
	text := fmt.Sprintf("%s/%d: %s: %s", e.Partition.Topic, e.Partition.Number, e.Code.State(), e.Cause())
	if e.Offset >= 0 {
		text = fmt.Sprintf("%s/%d: HALTED before offset %d: %s", e.Partition.Topic, e.Partition.Number, e.Offset, e.Cause())
	}
	for i := range e.Ways {
		if i == 0 {
			text += " [" + string(e.Code) + "; then: " + e.Ways[i].String() + "]"
		} else {
			text += " [or: " + e.Ways[i].String() + "]"
		}
		if len(e.Ways) > 1 {
			text += " [with it " + e.Ways[i].Costs() + "]"
		}
	}
	return text
}

// Cause returns Reason and Err in words, without the place and the ways out.
func (e *HaltedError) Cause() string {
	if e.Err == nil {
		return e.Reason
	}
	return e.Reason + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *HaltedError) Unwrap() error { return e.Err }
