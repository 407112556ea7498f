package operate

import (
	"context"
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/record"
)

const (
	// ofKeySQL is the letters of a record key, in the order of the log.
	ofKeySQL = letterSQL + `
WHERE s.consumer = $1::text AND s.topic = $2::text AND d.order_key = $3::uuid AND d.erased_by IS NULL
ORDER BY s.stream, d.offs, d.seq`

	// eraseSQL erases what letters keep, and asks for those that are dead to be discarded. One that
	// waits is discarded by its owner when its turn comes.
	eraseSQL = `
UPDATE idem_dead_letter d SET
    record = NULL, result = NULL, asked_result = NULL, erased_by = $4,
    reason = coalesce(substring(d.reason FROM '^([a-z_ -]+): '), 'decode') || ': erased by ' || $4,
    answer = CASE WHEN d.answer IS NOT NULL THEN 'erased by ' || $4 END,
    asked = CASE WHEN d.state = 'd' THEN 'x'::"char" ELSE d.asked END, asked_with_result = d.asked_with_result AND d.state <> 'd',
    asked_at = CASE WHEN d.state = 'd' THEN clock_timestamp() ELSE d.asked_at END,
    asked_by = CASE WHEN d.state = 'd' THEN $4 ELSE d.asked_by END
FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS a (stream, offs, seq)
WHERE d.stream = a.stream AND d.offs = a.offs AND d.seq = a.seq AND d.erased_by IS NULL`
)

// Erase erases what dead letters keep of the records of a record key: record, reason and result,
// of closed letters too. Those that are open are discarded. It returns the letters as they are.
func Erase(ctx context.Context, db DB, consumer, topic, key string, by By) ([]Letter, error) {
	if err := Known(ctx, db, consumer, topic); err != nil {
		return nil, err
	}
	found, err := letters(ctx, db, ofKeySQL, consumer, topic, record.OrderKey([]byte(key)))
	if err != nil {
		return nil, err
	}
	who, err := by.said(ctx, db)
	if err != nil {
		return nil, err
	}
	if by.DryRun {
		found = slices.Clone(found)
		for i := range found {
			found[i].Request = &Request{For: "discard", By: who}
		}
		return found, nil
	}
	now, _, err := rewrite(ctx, db, found, eraseSQL, who)
	if err != nil {
		return now, fmt.Errorf("erase: %w", err)
	}
	return now, nil
}
