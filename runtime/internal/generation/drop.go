package generation

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// Due reports whether a consumer's open generation is older than age and has keys.
func Due(ctx context.Context, conn *pgx.Conn, consumer string, age time.Duration) (open int32, due bool, err error) {
	err = conn.QueryRow(ctx, `
SELECT gen, opened_at < clock_timestamp() - $2::interval AND EXISTS (SELECT FROM idem_keys k WHERE k.gen = g.gen)
FROM idem_key_gen g WHERE consumer = $1 AND sealed_at IS NULL`, consumer, age).Scan(&open, &due)
	return open, due, err
}

// Expired returns the consumer's generations that were sealed longer ago than their keys are
// kept, as of the time that all partitions have been read up to: the time stored with them, or
// keep if that is longer. They stay for the longest time of a transaction beyond that, because
// their tables are reused, and a claim that saw them open must have ended by then.
func Expired(ctx context.Context, conn *pgx.Conn, consumer string, read Progress, keep, transaction time.Duration) ([]int32, error) {
	rows, err := conn.Query(ctx, `
SELECT gen FROM idem_key_gen WHERE consumer = $1 AND sealed_at < $4::timestamptz - greatest(keep, $2::interval) - $3::interval ORDER BY gen`,
		consumer, keep, transaction, read.Until)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}

// Overdue reports whether one of the consumer's generations would have expired by the database's
// clock alone.
func Overdue(ctx context.Context, conn *pgx.Conn, consumer string, keep, transaction time.Duration) (is bool, err error) {
	err = conn.QueryRow(ctx, `
SELECT EXISTS (SELECT FROM idem_key_gen WHERE consumer = $1 AND sealed_at < clock_timestamp() - greatest(keep, $2::interval) - $3::interval)`,
		consumer, keep, transaction).Scan(&is)
	return is, err
}

// Drop deletes the keys of generations, each in a transaction of its own, so that the table and
// the row of a generation become free together, or not at all. The table stays attached, and is
// reused: detaching it would need the right to change idem_keys, and would wait for every claim.
func Drop(ctx context.Context, conn *pgx.Conn, consumer string, numbers []int32, transaction time.Duration) (dropped []int32, err error) {
	for _, n := range numbers {
		if err := patiently(ctx, conn, transaction, `SELECT idem_keys_forget($1::text, $2::int)`, consumer, n); err != nil {
			return dropped, err
		}
		dropped = append(dropped, n)
		if err := fault.At(ctx, fault.Dropped); err != nil {
			return dropped, err
		}
	}
	return dropped, nil
}
