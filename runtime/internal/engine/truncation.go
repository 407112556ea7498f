package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// aheadPatience is how long a log may end below the position, because a new leader may lag
// briefly, or have lower leader epochs, because a deposed leader may answer. After that the
// partition halts.
const aheadPatience = 10 * time.Second

// lowerPatience is how far apart signs of lower leader epochs may come and still count as one
// fault: the pauses between take-overs are shorter.
const lowerPatience = time.Minute

// truncation describes a log that ended below the position: since when, and the lowest end seen
// since then; both are zero if the log did not end there.
type truncation struct {
	next  int64 // the position
	since time.Time
	end   int64
	lower struct{ since, last time.Time } // when the log, or its records, had lower leader epochs than the position, first and last
}

// aheadError means that the log ends below the position. It may be temporary.
type aheadError struct {
	end  int64
	tail ledger.Tail
}

func (e *aheadError) Error() string {
	text := fmt.Sprintf("the log ends at %d, below the ledger's position %d", e.end, e.tail.Next)
	if byOperator(e.tail) {
		text += ", which an operator's row has set"
	}
	return text
}

// byOperator reports whether an operator's row set the position.
func byOperator(tail ledger.Tail) bool {
	return tail.Writer == ledger.Person && tail.Kind != ledger.Operator && tail.Kind != ledger.Pause && tail.Kind != ledger.Fence
}

// lowestEnd is a warning about the command for a log whose leader epochs do not show where it was
// truncated: the log may have grown again before its end was first read.
const lowestEnd = ": the log was truncated or replaced; records written since then are never read if their offset is below the one that the command names. " +
	"It names the lowest end of the log seen since then: if you know the offset at which the log was cut, name that"

// checkLog compares the position with the log. The leader epoch of the record before the position
// determines exactly where the log was truncated, even if it has grown since. If no epoch is
// known, an end of the log below the position counts as truncation if it lasts, or if the log then
// grows past the position.
func (t *takeOver) checkLog(ctx context.Context, tail ledger.Tail) error {
	seen, next := &t.o.p.truncation, tail.Next
	if seen.next != next {
		*seen = truncation{next: next}
	}
	byEpoch := tail.Epoch >= 0 && t.a.EpochEnd != nil
	if byEpoch {
		end, err := t.a.EpochEnd(ctx, idemtype.Position{Offset: next, Epoch: tail.Epoch})
		switch {
		case err != nil:
			return err
		case end < 0:
			return t.lowerEpochs(tail, "", fmt.Sprintf("the log has no leader epoch %d, which the record before the ledger's position %d had", tail.Epoch, next))
		case end < next:
			return t.truncated(fmt.Sprintf("the log was truncated at offset %d, below the ledger's position %d, where leader epoch %d ends: an unclean leader election lost the records after it; "+
				"records written since then have offsets that the ledger counts as done", end, next, tail.Epoch), next, end)
		}
	}
	ahead := &aheadError{t.a.High, tail}
	switch {
	case next > t.a.High && seen.since.IsZero():
		seen.since, seen.end = time.Now(), t.a.High
		return ahead
	case next > t.a.High:
		seen.end = min(seen.end, t.a.High) // it grows again, with records that were never read
		if time.Since(seen.since) < aheadPatience {
			return ahead
		}
		return t.truncated(ahead.Error()+lowestEnd, next, seen.end)
	case !seen.since.IsZero() && !byEpoch && !byOperator(tail):
		return t.truncated(fmt.Sprintf("the log ended at %d, below the ledger's position %d, and has grown past it since", seen.end, next)+lowestEnd, next, seen.end)
	}
	*seen = truncation{next: next, lower: seen.lower}
	return t.checkOlder(tail)
}

// checkOlder compares the position with a record after it. The leader epochs of a log never go
// down, so a record with a lower epoch than the position's is of another log, although the other
// log may have a later epoch, too.
func (t *takeOver) checkOlder(tail ledger.Tail) error {
	older := t.a.Older
	if older == nil || older.Offset < tail.Next || older.Epoch >= tail.Epoch {
		return nil
	}
	return t.lowerEpochs(tail, fmt.Sprintf("before offset %d, ", older.Offset),
		fmt.Sprintf("the record at offset %d has leader epoch %d, and the one before the ledger's position %d had epoch %d", older.Offset, older.Epoch, tail.Next, tail.Epoch))
}

// lowerEpochs halts a partition whose log has lower leader epochs than the position, at all or
// before an offset. A leader that was deposed may say so for a moment, so the partition halts only
// if that lasts; until then, sign is what was seen.
func (t *takeOver) lowerEpochs(tail ledger.Tail, before, sign string) error {
	seen, now := &t.o.p.truncation.lower, time.Now()
	if now.Sub(seen.last) > lowerPatience {
		seen.since = now
	}
	seen.last = now
	if now.Sub(seen.since) < aheadPatience {
		return errors.New(sign)
	}
	return t.otherLog(tail, before)
}

// truncated halts a partition whose log was truncated. Its way sets the position back to the
// point of truncation.
func (t *takeOver) truncated(reason string, next, end int64) error {
	return t.halt(halt.LogTruncated, reason, setTo(next, max(end, t.a.Low)))
}

// otherLog halts a partition whose log has no leader epoch as high as the ledger's, at all or
// before an offset. It is unknown which of its records were applied: an operator must choose.
func (t *takeOver) otherLog(tail ledger.Tail, before string) error {
	to := min(tail.Next, t.a.High)
	h := &verdict.Halt{
		Code: halt.LogTruncated, Offset: -1, Ways: []halt.Way{setTo(tail.Next, to)},
		Reason: fmt.Sprintf("%sthe log has no leader epoch %d, under which the records before the ledger's position %d were read: the cluster was restored to an earlier state, or replaced; "+
			"if you know the offset at which the logs differ, name that", before, tail.Epoch, tail.Next),
	}
	if to > t.a.Low {
		h.Ways = append(h.Ways, setTo(tail.Next, t.a.Low))
	}
	return h
}

// setTo returns the way that moves the position, or confirms it.
func setTo(from, to int64) halt.Way {
	return halt.Way{Move: &halt.Move{From: from, To: to, ApplyAgain: to < from}}
}
