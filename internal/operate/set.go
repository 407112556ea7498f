package operate

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/halt"
)

// Target is the position from which a partition continues.
type Target struct {
	// From is the expected position, so that a command that was copied from an alert does nothing
	// if an operator has already acted; or halt.Anywhere, or halt.NoLedger.
	From int64
	To   int64 // offset of the next record to apply
	// ApplyAgain accepts that records which are applied again take effect again, unless their keys
	// are still known. It is required to move back, even if the log was truncated and now has
	// other records, which the database cannot know.
	ApplyAgain bool
	Partitions int32 // of the topic, of a ledger that begins; 0 takes the number from another stream of the topic
	// Found is how To was found, in words, if it was searched: a partition that is there already
	// stays, and with ApplyAgain one that is before it, which reads those records in any case.
	Found string
}

// Set moves the position of a partition. Offsets that it skips never take effect. Offsets that it
// goes back to take effect again, unless their keys are known. If To equals From, the position
// stays, but is no longer compared with the leader epochs of the log. With [halt.NoLedger], Set
// begins the ledger of a partition that has none: of a topic that was recreated, of a group that
// has only a committed offset, or of a stream whose rows are gone. The offsets below To are then
// unknown, and name.TopicID is required.
func Set(ctx context.Context, db DB, name Name, to Target, by By) (Change, error) {
	if to.To < 0 {
		return Change{}, fmt.Errorf("there is no offset %d", to.To)
	}
	if to.From == halt.NoLedger {
		return adopt(ctx, db, name, to, by)
	}
	return begin(ctx, db, name, by, func(t ledger.Tail) (row ledger.Row, effect string, err error) {
		if to.Found != "" {
			defer func() { effect += fmt.Sprintf(" (offset %d: %s)", to.To, to.Found) }()
		}
		if to.From != halt.Anywhere && to.From != t.Next {
			return ledger.Row{}, "", fmt.Errorf("%v is at offset %d (%s), not %d: it has changed since; check with list, then give the current offset as --from", name, t.Next, last(t), to.From)
		}
		row = ledger.Row{Kind: ledger.Skip, Next: to.To, Epoch: -1}
		switch {
		case to.Found != "" && (to.To == t.Next || to.To > t.Next && to.ApplyAgain):
			return ledger.Row{}, fmt.Sprintf("stays at offset %d, nothing appended", t.Next), nil
		case to.To > t.Next && to.ApplyAgain:
			return row, "", fmt.Errorf("%v is at offset %d (%s): --apply-again only moves back, and %d is not before it", name, t.Next, last(t), to.To)
		case to.To > t.Next:
			return row, passed(t.Next, to.To, "passes without effect", "pass without effect"), nil
		case to.To == t.Next && to.From == t.Next && (t.Epoch >= 0 || t.Writer != ledger.Person):
			row.Kind = ledger.Operator
			return row, "the position stays, even if the log before it has changed", nil
		case to.To == t.Next:
			return row, "", fmt.Errorf("%v is at offset %d already (%s)", name, t.Next, last(t))
		case !to.ApplyAgain:
			return row, "", fmt.Errorf("%v is at offset %d (%s), and %d is before it: records that were applied take effect again, "+
				"unless they have a key that is still known; confirm with --apply-again", name, t.Next, last(t), to.To)
		}
		row.Kind = ledger.Rewind
		return row, passed(to.To, t.Next, "is read again", "are read again") + ": events without a known key take effect again", nil
	})
}

// passed describes the effect on the offsets from from up to to, exclusive.
func passed(from, to int64, one, many string) string {
	if to-from == 1 {
		return fmt.Sprintf("1 offset, %d, %s", from, one)
	}
	return fmt.Sprintf("%d offsets, %d to %d, %s", to-from, from, to-1, many)
}

// Leave contains what a release accepts.
type Leave struct {
	// Older permits an older version of the service to continue: it may not recognize events that
	// the newer version applied under another identity.
	Older bool
	// Partitions is the number of partitions that the topic may have; 0 means as many as before.
	// From then on records of one key may be in two partitions of the topic, and their order
	// across the change is not guaranteed.
	Partitions int32
	// Fewer accepts a number below the ledger's, which was confirmed by mistake: Kafka never
	// removes partitions.
	Fewer bool
}

// Release resumes a halted partition after the cause is gone. A ledger that already has the number
// of partitions is not changed.
func Release(ctx context.Context, db DB, name Name, leave Leave, by By) (Change, error) {
	n := leave.Partitions
	if n > 0 {
		if name.Partition >= n && !leave.Fewer {
			return Change{}, fmt.Errorf("%v: there is no partition %d of %d, which are numbered from 0", name, name.Partition, n)
		}
		if err := nothingWaits(ctx, db, name); err != nil {
			return Change{}, err
		}
	}
	return begin(ctx, db, name, by, func(t ledger.Tail) (ledger.Row, string, error) {
		row := ledger.Row{Kind: ledger.Operator, Next: t.Next, Epoch: t.Epoch}
		effect := "the partition retries"
		if leave.Older {
			none := ledger.NoIdentity
			row.Def, effect = &none, "any version of the service may continue, even an older one"
		}
		switch {
		case t.Kind == ledger.Pause && leave == Leave{}:
			return ledger.Row{}, fmt.Sprintf("paused (%s), which idemgen stream resume ends; nothing appended", last(t)), nil
		case n == 0:
			return row, effect, nil
		case n == t.Parts && !leave.Older:
			return ledger.Row{}, fmt.Sprintf("already %s, nothing appended", count(n, "partition")), nil
		case n < t.Parts && !leave.Fewer:
			return ledger.Row{}, "", fmt.Errorf("%v: the ledger already records %d partitions (%s), and %d are fewer: Kafka never removes partitions, and a topic that was recreated "+
				"has another id and a ledger of its own (set --from none); give --fewer if %d were confirmed by mistake", name, t.Parts, last(t), n, t.Parts)
		}
		row.Parts = &n
		return row, effect + fmt.Sprintf("; the topic may have %s, no longer %d", count(n, "partition"), t.Parts), nil
	})
}

// last describes the last row, and who appended it, unless it is a batch, whose text is for the
// next owner.
func last(t ledger.Tail) string {
	text := fmt.Sprintf("row %d, %s", t.Seq, kinds[t.Kind])
	switch {
	case t.Info == "" || t.Kind == ledger.Batch:
		return text
	case t.Writer == ledger.HandBack:
		return text + ", " + t.Info
	}
	return text + " by " + t.Info
}

const waitingSQL = `
SELECT count(*) OVER (), d.offs, s.partition FROM idem_dead_letter d JOIN idem_stream s USING (stream)
WHERE s.consumer = $1 AND s.topic = $2 AND d.state IN ('d', 'w') AND d.parks ORDER BY s.partition, d.offs LIMIT 1`

// nothingWaits returns an error while records of a topic are parked behind dead letters: later
// records of their keys may be in another partition, and overtake them.
func nothingWaits(ctx context.Context, db DB, name Name) error {
	var open, offset int64
	var partition int32
	_, err := one(ctx, db, []any{&open, &offset, &partition}, waitingSQL, name.Consumer, name.Topic)
	if err != nil || open == 0 {
		return err
	}
	return fmt.Errorf("%s of %s has %s behind which records of the same key wait (on_failure.park), such as partition %d offset %d: later ones would overtake them in another partition; replay or discard them first (idemgen dead)",
		name.Topic, name.Consumer, count(open, "letter"), partition, offset)
}
