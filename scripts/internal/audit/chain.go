package audit

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Chains names the rows of the ledger that break its rules: one chain per partition and
// topic id, dense, each row where the one before ended, each kind with its own movement, and
// a genesis at the very beginning or nowhere.
func Chains(ctx context.Context, db Querier) ([]string, error) {
	return lines(ctx, db, `
WITH chain AS (
  SELECT stream, seq, prev, next, kind, writer, lag(next) OVER w AS before, lag(seq) OVER w AS last, lag(kind) OVER w AS after
  FROM idem_ledger WINDOW w AS (PARTITION BY stream ORDER BY seq))
SELECT 'stream ' || stream || ' at ' || seq || ': ' || why FROM chain, LATERAL (VALUES
  (last IS NOT NULL AND seq <> last + 1,                         'rows are missing before it'),
  (last IS NOT NULL AND prev IS DISTINCT FROM before,            'it does not begin where the row before ended'),
  ((kind = 'g') <> (seq = 0),                                    'a genesis is the first row, and no other'),
  (kind IN ('b', 's') AND next <= prev,                          'it moves nothing forward'),
  (kind IN ('g', 'f', 'l', 'o', 'p') AND next <> prev,           'it must not move'),
  (after = 'p' AND writer <> 'o',                                'a worker wrote it after a pause'),
  (kind = 'r' AND next >= prev,                                  'it does not go back'),
  (kind NOT IN ('g', 'f', 'b', 'l', 'o', 's', 'r', 'p'),         'its kind is unknown')) AS rule (broken, why)
WHERE broken
UNION ALL
SELECT 'stream ' || stream || ' has no rows' FROM idem_stream s WHERE NOT EXISTS (SELECT FROM idem_ledger l WHERE l.stream = s.stream)`)
}

// Passed are the first offsets that the ledger does not cover, by partition of the topic: of
// the newest chain, if the topic was made again.
func Passed(ctx context.Context, db Querier) (map[int32]int64, error) {
	rows, err := db.Query(ctx, `
SELECT DISTINCT ON (s.partition) s.partition, l.next
FROM idem_stream s, LATERAL (SELECT next FROM idem_ledger l WHERE l.stream = s.stream ORDER BY seq DESC LIMIT 1) AS l
ORDER BY s.partition, s.stream DESC`)
	if err != nil {
		return nil, err
	}
	passed := map[int32]int64{}
	var partition int32
	var next int64
	_, err = pgx.ForEachRow(rows, []any{&partition, &next}, func() error {
		passed[partition] = next
		return nil
	})
	return passed, err
}
