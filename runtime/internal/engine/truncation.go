package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// aheadPatience is how long a log may end below the position, because a new leader may lag for a
// moment. Then the partition halts.
const aheadPatience = 10 * time.Second

// truncation is what is known of a truncated log: since when the log ends below the position, and
// the lowest end seen since then. It is zero while the log does not end there.
type truncation struct {
	since time.Time
	end   int64
}

// aheadError says that the log ends below the position. It may pass.
type aheadError struct {
	end  int64
	tail ledger.Tail
}

func (e *aheadError) Error() string {
	text := fmt.Sprintf("the log ends at %d, below the ledger's position %d", e.end, e.tail.Next)
	if e.tail.Writer == ledger.Person && e.tail.Kind != ledger.Operator && e.tail.Kind != ledger.Fence {
		text += ", which an operator's row has set"
	}
	return text
}

// truncatedText is what a person must know before they run the command. Only a person can know
// where the log was cut: it may have grown again before its end was first read.
const truncatedText = ": the log was truncated or replaced; of the records written since, those below the offset that the command names are never read. " +
	"It names the lowest end of the log seen since then: who knows the offset at which the log was cut names that"

// haltIfLasting passes err on. If err says for longer than aheadPatience that the log ends below
// the position, it becomes a halt.
func (seen *truncation) haltIfLasting(err error) error {
	ahead, ok := errors.AsType[*aheadError](err)
	switch {
	case !ok:
		*seen = truncation{}
	case seen.since.IsZero():
		*seen = truncation{time.Now(), ahead.end}
	default:
		seen.end = min(seen.end, ahead.end) // it grows again, with records that nobody has read
		if time.Since(seen.since) >= aheadPatience {
			return &verdict.Halt{
				Code: halt.LogTruncated, Offset: -1, Reason: ahead.Error() + truncatedText,
				Args: fmt.Sprintf(" --from %d --to %d --apply-again", ahead.tail.Next, seen.end),
			}
		}
	}
	return err
}
