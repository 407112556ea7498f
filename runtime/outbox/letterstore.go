package outbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const (
	mostLetters     = 100     // on their way together
	mostLetterBytes = 8 << 20 // of their records, but for the last one
)

// unsentSQL reads dead letters of a consumer that wait to be sent: some, or all but some. One that
// was replayed or discarded before it was sent is none, and neither is one that waits behind
// another one, until it dies itself.
const unsentSQL = `
SELECT stream, offs, seq, topic, topic_id, partition, event, reason, sqlstate, created_at, erased, record
FROM (
    SELECT *, pg_catalog.sum(coalesce(pg_catalog.octet_length(record), 0)) OVER (ORDER BY stream, offs, seq) - coalesce(pg_catalog.octet_length(record), 0) AS before
    FROM (
        SELECT d.stream, d.offs, d.seq, s.topic, s.topic_id::text, s.partition, coalesce(d.event, '') AS event, d.reason,
            coalesce(d.sqlstate, '') AS sqlstate, d.created_at, d.erased_by IS NOT NULL AS erased, d.record
        FROM idem_dead_letter d JOIN idem_stream s USING (stream)
        WHERE s.consumer = $1 AND d.sent_at IS NULL AND d.state = 'd'
            AND ((d.stream, d.offs, d.seq) IN (SELECT * FROM ROWS FROM (pg_catalog.unnest($2::int[]), pg_catalog.unnest($3::bigint[]), pg_catalog.unnest($4::bigint[])))) = $5::boolean
        ORDER BY d.stream, d.offs, d.seq LIMIT $6
    ) first
) fitting
WHERE before < $7
ORDER BY stream, offs, seq`

// read reads letters: those at some places, or the first ones that are at none of them.
func (l *letters) read(ctx context.Context, at []place, those bool) ([]*letter, error) {
	ctx, cancel := l.asking(ctx)
	defer cancel()
	streams, offs, seqs := columns(at)
	rows, err := l.conn.Query(ctx, unsentSQL, l.DeadLetters.consumer, streams, offs, seqs, those, mostLetters, mostLetterBytes)
	if err != nil {
		return nil, fmt.Errorf("read idem_dead_letter: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*letter, error) {
		var f letter
		err := row.Scan(&f.stream, &f.offs, &f.seq, &f.topic, &f.topicID, &f.partition, &f.event, &f.reason, &f.sqlstate, &f.createdAt, &f.erased, &f.stored)
		return &f, err
	})
	if err != nil {
		return nil, fmt.Errorf("read idem_dead_letter: %w", err)
	}
	if len(found) > 0 {
		err = l.confirm(ctx)
	}
	return found, err
}

// markSQL marks letters as sent, and returns those that are still to be marked: somebody else has
// their rows for a moment. It waits for no lock, so that it is in nobody's way.
const markSQL = `
WITH meant AS (
    SELECT d.stream, d.offs, d.seq FROM ROWS FROM (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::bigint[])) AS p (stream, offs, seq)
    JOIN idem_dead_letter d USING (stream, offs, seq) WHERE d.sent_at IS NULL
), free AS (
    SELECT d.stream, d.offs, d.seq FROM idem_dead_letter d JOIN meant USING (stream, offs, seq) FOR NO KEY UPDATE OF d SKIP LOCKED
), marked AS (
    UPDATE idem_dead_letter d SET sent_at = pg_catalog.clock_timestamp() FROM free f
    WHERE d.stream = f.stream AND d.offs = f.offs AND d.seq = f.seq RETURNING d.stream, d.offs, d.seq
)
SELECT * FROM meant EXCEPT SELECT * FROM marked`

// mark marks what the broker has, also when the context has ended.
func (l *letters) mark(ctx context.Context) error {
	if len(l.acked) == 0 {
		return nil
	}
	ctx, cancel := l.asking(context.WithoutCancel(ctx))
	defer cancel()
	streams, offs, seqs := columns(l.acked)
	rows, err := l.conn.Query(ctx, markSQL, streams, offs, seqs)
	if err != nil {
		return fmt.Errorf("mark letters in idem_dead_letter: %w", err)
	}
	left, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p place, err error) {
		err = row.Scan(&p.stream, &p.offs, &p.seq)
		return p, err
	})
	if err != nil {
		return fmt.Errorf("mark letters in idem_dead_letter: %w", err)
	}
	l.acked = left
	return nil
}

func columns(of []place) (streams []int32, offs, seqs []int64) {
	streams, offs, seqs = []int32{}, []int64{}, []int64{}
	for _, p := range of {
		streams, offs, seqs = append(streams, p.stream), append(offs, p.offs), append(seqs, p.seq)
	}
	return streams, offs, seqs
}
