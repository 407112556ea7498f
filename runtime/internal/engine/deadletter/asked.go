package deadletter

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Place identifies a letter of a partition.
type Place struct{ Offset, Seq int64 }

// Held are the requests to leave out: those that wait, and those behind them.
type Held struct {
	Letters []Place
	Keys    []wire.UUID // record keys
}

// MostOpen and mostBytes limit what one query reads: the number of letters, and the bytes of their
// records, except the last one.
const (
	MostOpen  = 100
	mostBytes = 8 << 20
)

const (
	// askedSQL selects the requests, in the order of the log, and the first parked records of each
	// of the record keys $4, at most $8 per key.
	askedSQL = `
WITH asked AS (
    SELECT d.* FROM idem_dead_letter d
    WHERE d.stream = $1::int AND d.asked IS NOT NULL AND d.state = 'd' AND (d.order_key IS NULL OR d.order_key <> ALL ($5::uuid[]))
        AND NOT EXISTS (SELECT FROM unnest($2::bigint[], $3::bigint[]) AS h (offs, seq) WHERE h.offs = d.offs AND h.seq = d.seq)
    ORDER BY d.offs, d.seq LIMIT $6::int
), freed AS (
    SELECT d.* FROM unnest($4::uuid[]) AS k (key)
    CROSS JOIN LATERAL (
        SELECT * FROM idem_dead_letter WHERE stream = $1 AND order_key = k.key AND state = 'w' AND parks ORDER BY offs, seq LIMIT $8::int
    ) d
), open AS (
    SELECT *, sum(octet_length(record)) OVER (ORDER BY offs, seq ROWS UNBOUNDED PRECEDING) - octet_length(record) AS before
    FROM (SELECT * FROM asked UNION ALL SELECT * FROM freed ORDER BY offs, seq LIMIT $6) a
)
SELECT offs, seq, state, order_key, parks, coalesce(asked, 'r'), coalesce(asked_at, created_at), coalesce(asked_by, 'the letter that it waited for'),
    coalesce(asked_number, 0), asked_result, result, coalesce(erased_by, ''), record
FROM open WHERE before IS NULL OR before < $7::bigint ORDER BY offs, seq`

	// stillSQL selects the open letters that have a request or are parked.
	stillSQL = `
SELECT d.offs, d.seq, coalesce(d.asked_at, d.created_at)
FROM unnest($2::bigint[], $3::bigint[]) AS h (offs, seq) JOIN idem_dead_letter d ON d.stream = $1::int AND d.offs = h.offs AND d.seq = h.seq
WHERE d.state = 'd' AND d.asked IS NOT NULL OR d.state = 'w'`
)

// Querier is a connection, or a pool of them.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Asked reads the letters of a partition with operators' requests, and the first parked records of
// record keys that are free, for at most 100 keys. It returns a limited number of them, in the
// order of the log.
func Asked(ctx context.Context, db Querier, of idemtype.Partition, stream int32, free []wire.UUID, but Held) ([]Open, error) {
	offsets, seqs := columns(but.Letters)
	if but.Keys == nil {
		but.Keys = []wire.UUID{}
	}
	rows, err := db.Query(ctx, askedSQL, stream, offsets, seqs, free, but.Keys, MostOpen, mostBytes, MostOpen/max(1, len(free)))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (l Open, err error) {
		var stored []byte
		if err := r.Scan(&l.Offset, &l.Seq, &l.State, &l.OrderKey, &l.Parks, &l.Asked, &l.AskedAt, &l.By, &l.Number, &l.Result, &l.Returned, &l.ErasedBy, &stored); err != nil {
			return l, err
		}
		l.read(of, stored)
		return l, nil
	})
}

// Still returns, for the letters that still have a request or are still parked, since when.
func Still(ctx context.Context, db Querier, stream int32, letters []Place) (since map[Place]time.Time, err error) {
	since = map[Place]time.Time{}
	if len(letters) == 0 {
		return since, nil
	}
	offsets, seqs := columns(letters)
	rows, err := db.Query(ctx, stillSQL, stream, offsets, seqs)
	if err != nil {
		return nil, err
	}
	var p Place
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&p.Offset, &p.Seq, &at}, func() error {
		since[p] = at
		return nil
	})
	return since, err
}

func columns(letters []Place) (offsets, seqs []int64) {
	for _, l := range letters {
		offsets, seqs = append(offsets, l.Offset), append(seqs, l.Seq)
	}
	return offsets, seqs
}
