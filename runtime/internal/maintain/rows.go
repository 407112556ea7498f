package maintain

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// chunk is how many rows one statement deletes.
const chunk = 1000

const (
	streamsSQL = `SELECT stream FROM idem_stream WHERE consumer = $1 ORDER BY stream`

	// trimSQL deletes the oldest rows, before those that are still needed, and never the tail, so
	// that the remaining rows have no gap. A suspended owner could append into a gap. A row number
	// must not become free again during a statement that began before the row was written, so rows
	// stay for the longest time of a statement. Operators' rows are moved to another table, for
	// later inquiries.
	trimSQL = `
WITH gone AS (
	DELETE FROM idem_ledger l
	USING (SELECT stream, seq, window_seq FROM idem_ledger WHERE stream = $1 ORDER BY seq DESC LIMIT 1) t
	WHERE l.stream = t.stream AND l.seq < least(t.seq, t.window_seq, (SELECT seq FROM idem_ledger
			WHERE stream = $1 AND written_at > clock_timestamp() - $3::interval ORDER BY seq LIMIT 1))
		AND l.seq < (SELECT min(seq) FROM idem_ledger WHERE stream = $1) + $2
	RETURNING l.stream, l.seq, l.kind, l.prev, l.next, l.written_at, l.info, l.writer
), kept AS (
	INSERT INTO idem_operator (stream, seq, kind, prev, next, written_at, info)
	SELECT stream, seq, kind, prev, next, written_at, info FROM gone WHERE kind = 'l' OR writer = 'o'
	ON CONFLICT DO NOTHING
)
SELECT FROM gone`

	// forgetSQL deletes old operators' rows.
	forgetSQL = `
DELETE FROM idem_operator WHERE stream = $1 AND seq IN (SELECT seq FROM idem_operator
	WHERE stream = $1 AND written_at < clock_timestamp() - interval '1 year' LIMIT $2)`

	// closeSQL closes dead letters that were not replayed in time. They are kept for the same time
	// again, counted from now. A letter with an operator's request stays open, and so does one
	// behind which records are parked.
	closeSQL = `
UPDATE idem_dead_letter SET state = 'x', resolved_at = clock_timestamp(), resolved_by = 'idemgen: keep is over',
	expires_at = clock_timestamp() + (expires_at - created_at)
WHERE stream = $1 AND (offs, seq) IN (SELECT offs, seq FROM idem_dead_letter
	WHERE stream = $1 AND expires_at < clock_timestamp() AND state = 'd' AND NOT parks AND asked IS NULL ORDER BY expires_at LIMIT $2)
	AND state = 'd' AND asked IS NULL`

	// openSQL counts the open dead letters by class, of the first 100,000.
	openSQL = `
SELECT class, count(*) FROM (SELECT split_part(d.reason, ':', 1) AS class FROM idem_dead_letter d JOIN idem_stream s USING (stream)
	WHERE s.consumer = $1 AND d.state IN ('d', 'w') LIMIT 100000) d GROUP BY 1`

	// parkedSQL requests the owner to discard dead letters that park later records, but behind
	// which no record waits: only the owner may change the state of parked keys.
	parkedSQL = `
UPDATE idem_dead_letter d SET asked = 'x', asked_at = clock_timestamp(), asked_by = 'idemgen: keep is over', answer = NULL, answered_at = NULL
WHERE stream = $1 AND (offs, seq) IN (SELECT offs, seq FROM idem_dead_letter
	WHERE stream = $1 AND expires_at < clock_timestamp() AND state = 'd' AND parks AND asked IS NULL ORDER BY expires_at LIMIT $2)
	AND state = 'd' AND asked IS NULL
	AND NOT EXISTS (SELECT FROM idem_dead_letter w WHERE w.stream = d.stream AND w.order_key = d.order_key AND w.state = 'w')`

	// overdueSQL counts expired dead letters behind which records are parked.
	overdueSQL = `
SELECT count(*) FROM idem_dead_letter d
WHERE stream = $1 AND expires_at < clock_timestamp() AND state = 'd' AND parks
	AND EXISTS (SELECT FROM idem_dead_letter w WHERE w.stream = d.stream AND w.order_key = d.order_key AND w.state = 'w')`

	// locksSQL deletes locks of all consumers that are not held: they were released, or their
	// holder is gone. A lock that has been acquired meanwhile stays.
	locksSQL = `
DELETE FROM idem_lease
WHERE (consumer, key) IN (SELECT consumer, key FROM idem_lease
	WHERE consumer >= 'lock:' AND consumer < 'lock;' AND state IN ('p', 'f') AND expires_at < clock_timestamp() - keep LIMIT $1)
	AND state IN ('p', 'f') AND expires_at < clock_timestamp() - keep`

	// leasesSQL deletes outcomes of effects. An interrupted effect stays, and so does a done one
	// unless %s.
	leasesSQL = `
DELETE FROM idem_lease
WHERE consumer = $1 AND key IN (SELECT key FROM idem_lease l
	WHERE consumer = $1 AND state IN ('c', 'd', 'f') AND forget_at < clock_timestamp() AND (state <> 'd' OR %s) ORDER BY forget_at LIMIT $2)
	AND state IN ('c', 'd', 'f') AND forget_at < clock_timestamp()`

	// passedSQL checks whether the ledger has the key of a done effect: then the event was applied
	// with the result from another store. Otherwise a done effect stays.
	passedSQL = `EXISTS (SELECT FROM idem_keys k JOIN idem_stream s USING (stream) WHERE k.key = l.key AND s.consumer = $1)`

	clearSQL = `
DELETE FROM idem_dead_letter
WHERE stream = $1 AND (offs, seq) IN (SELECT offs, seq FROM idem_dead_letter
	WHERE stream = $1 AND expires_at < clock_timestamp() AND state IN ('r', 'x') ORDER BY expires_at LIMIT $2)
	AND state IN ('r', 'x')`
)

// trim deletes the rows of the ledger that are no longer needed.
func (j *Job) trim(ctx context.Context, conn *pgx.Conn) error {
	return j.eachStream(ctx, conn, "remove rows of the ledger", func(stream int32) error {
		_, err := chunks(ctx, conn, trimSQL, fault.Trimmed, stream, chunk, j.Transaction)
		if err == nil {
			_, err = chunks(ctx, conn, forgetSQL, fault.Trimmed, stream, chunk)
		}
		return err
	})
}

// letters closes expired dead letters, and deletes closed and replayed ones.
func (j *Job) letters(ctx context.Context, conn *pgx.Conn) error {
	var closed int64
	overdue := 0
	err := j.eachStream(ctx, conn, "remove dead letters", func(stream int32) error {
		n, err := chunks(ctx, conn, closeSQL, fault.Closed, stream, chunk)
		closed += n
		if err == nil {
			_, err = conn.Exec(ctx, parkedSQL, stream, chunk)
		}
		if err == nil {
			_, err = chunks(ctx, conn, clearSQL, fault.Trimmed, stream, chunk)
		}
		if err == nil {
			var n int
			err = conn.QueryRow(ctx, overdueSQL, stream).Scan(&n)
			overdue += n
		}
		return err
	})
	if err == nil && overdue != j.overdue {
		if j.overdue = overdue; overdue > 0 {
			j.Log.Error("dead letters are older than on_failure.keep, and records are parked behind them: replay or discard them (idemgen dead)", "letters", overdue)
		}
	}
	if closed > 0 {
		j.Expired.Add(closed)
		j.Log.Warn("dead letters were closed without a replay, because on_failure.keep has passed; they are deleted after the same period", "closed", closed)
	}
	return err
}

// leases deletes effects whose results are no longer kept, and locks.
func (j *Job) leases(ctx context.Context, conn *pgx.Conn) error {
	passed := passedSQL
	if j.Schema["keys"] == 0 {
		passed = "false"
	}
	if _, err := chunks(ctx, conn, fmt.Sprintf(leasesSQL, passed), fault.Trimmed, j.Consumer, chunk); err != nil {
		return fmt.Errorf("remove leases of effects: %w", err)
	}
	if _, err := chunks(ctx, conn, locksSQL, fault.Trimmed, chunk); err != nil {
		return fmt.Errorf("remove locks: %w", err)
	}
	return nil
}

func (j *Job) eachStream(ctx context.Context, conn *pgx.Conn, what string, do func(stream int32) error) error {
	rows, err := conn.Query(ctx, streamsSQL, j.Consumer)
	if err != nil {
		return err
	}
	streams, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	for _, s := range streams {
		if err = do(s); err != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// chunks runs a statement until it finds no more rows.
func chunks(ctx context.Context, conn *pgx.Conn, sql, step string, args ...any) (all int64, err error) {
	for {
		tag, err := conn.Exec(ctx, sql, args...)
		if err != nil || tag.RowsAffected() == 0 {
			return all, err
		}
		all += tag.RowsAffected()
		if err := fault.At(ctx, step); err != nil {
			return all, err
		}
	}
}

// count counts the open dead letters.
func (j *Job) count(ctx context.Context, conn *pgx.Conn) error {
	if j.Open == nil {
		return nil
	}
	rows, err := conn.Query(ctx, openSQL, j.Consumer)
	if err != nil {
		return fmt.Errorf("count the open dead letters: %w", err)
	}
	open := map[string]int64{}
	var class string
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&class, &n}, func() error { open[class] = n; return nil }); err != nil {
		return fmt.Errorf("count the open dead letters: %w", err)
	}
	j.Open(open)
	return nil
}
