package operate

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/internal/ledger"
)

// Target is where a partition goes on.
type Target struct {
	// From is the position that is expected, so that a command that was copied from an alert does
	// nothing if somebody has acted already; or Anywhere, or NoLedger.
	From int64
	To   int64 // offset of the next record to apply
	// ApplyAgain says that the caller knows: what is applied again takes effect again, unless it
	// has a key that is still known. It is required to move back, even where the log was truncated
	// and the records are others now: the database cannot know that.
	ApplyAgain bool
	Partitions int32 // of the topic, of a ledger that begins; 0 takes the number from another stream of the topic
}

// What is expected of a ledger, beside a position.
const (
	Anywhere int64 = -1 // it is at any position
	NoLedger int64 = -2 // there is none: one begins
)

// Set moves the position of a partition. Offsets passed never take effect; those that are read
// again take effect again, unless their keys are known. A position that is From, too, stays, and
// is no longer compared with the leader epochs of the log. With [NoLedger] it begins the ledger
// of a partition that has none: of a topic that was deleted and made again, of a group that has a
// committed offset only, or of a stream whose rows are gone. Nothing is known of the offsets below
// To then, and name.TopicID is required.
func Set(ctx context.Context, db DB, name Name, to Target, by By) (Change, error) {
	if to.To < 0 {
		return Change{}, fmt.Errorf("there is no offset %d", to.To)
	}
	if to.From == NoLedger {
		return adopt(ctx, db, name, to, by)
	}
	return begin(ctx, db, name, by, func(t ledger.Tail) (ledger.Row, string, error) {
		if to.From != Anywhere && to.From != t.Next {
			return ledger.Row{}, "", fmt.Errorf("%v is at offset %d (%s), not %d: somebody has acted since; check with list, then give the present offset as --from", name, t.Next, last(t), to.From)
		}
		row := ledger.Row{Kind: ledger.Skip, Next: to.To, Epoch: -1}
		switch {
		case to.To > t.Next && to.ApplyAgain:
			return row, "", fmt.Errorf("%v is at offset %d (%s): --apply-again moves back only, and %d is not before it", name, t.Next, last(t), to.To)
		case to.To > t.Next:
			return row, passed(t.Next, to.To, "passes without effect", "pass without effect"), nil
		case to.To == t.Next && to.From == t.Next && t.Epoch >= 0:
			row.Kind = ledger.Operator
			return row, "the position stays, whatever the log before it is now", nil
		case to.To == t.Next:
			return row, "", fmt.Errorf("%v is at offset %d already (%s)", name, t.Next, last(t))
		case !to.ApplyAgain:
			return row, "", fmt.Errorf("%v is at offset %d (%s), and %d is before it: records that were applied take effect again, "+
				"unless they have a key that is still known; --apply-again says that you mean it", name, t.Next, last(t), to.To)
		}
		row.Kind = ledger.Rewind
		return row, passed(to.To, t.Next, "is read again", "are read again") + ": what has no known key takes effect again", nil
	})
}
