package generation

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// dropLock lets one process drop generations at a time, in any consumer: idem_keys bears one
// pending detach.
const dropLock = 0x1de36e5

// Due tells whether a consumer's open generation is older than an age and has keys.
func Due(ctx context.Context, conn *pgx.Conn, consumer string, age time.Duration) (open int32, due bool, err error) {
	err = conn.QueryRow(ctx, `
SELECT gen, opened_at < clock_timestamp() - $2::interval AND EXISTS (SELECT FROM idem_keys k WHERE k.gen = g.gen)
FROM idem_key_gen g WHERE consumer = $1 AND sealed_at IS NULL`, consumer, age).Scan(&open, &due)
	return open, due, err
}

// Expired are the consumer's generations that were sealed longer ago than their keys are
// kept: by what was stored with them, or by keep if that is longer. The time is the
// database's.
func Expired(ctx context.Context, conn *pgx.Conn, consumer string, keep time.Duration) ([]int32, error) {
	rows, err := conn.Query(ctx, `
SELECT gen FROM idem_key_gen WHERE consumer = $1 AND sealed_at < clock_timestamp() - greatest(keep, $2::interval) ORDER BY gen`, consumer, keep)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}

// Drop drops generations. Each step may be the last of a run that is interrupted: the next
// run goes on from there. It does nothing while another process drops some.
func Drop(ctx context.Context, conn *pgx.Conn, numbers []int32) (dropped []int32, err error) {
	var mine bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, dropLock).Scan(&mine); err != nil || !mine {
		return nil, err
	}
	defer func() {
		// With an error the connection is closed, and the lock goes with it.
		if err == nil {
			_, err = conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, dropLock)
		}
	}()
	if err := finalize(ctx, conn); err != nil {
		return nil, err
	}
	for _, n := range numbers {
		if err := drop(ctx, conn, n); err != nil {
			return dropped, err
		}
		dropped = append(dropped, n)
	}
	return dropped, nil
}

// finalize ends what an interrupted DETACH left: until then no other can begin.
func finalize(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `
SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'idem_keys'::regclass AND inhdetachpending`)
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := ddl(ctx, conn, `ALTER TABLE idem_keys DETACH PARTITION `+t+` FINALIZE`); err != nil {
			return err
		}
	}
	return nil
}

// drop is done with the generation's row, last: while that is there, what is missing can be
// told. A table must not be dropped while it is attached: that would wait for every claim,
// with all others behind it.
func drop(ctx context.Context, conn *pgx.Conn, number int32) error {
	var attached bool
	if err := conn.QueryRow(ctx, `
SELECT EXISTS (SELECT FROM pg_inherits WHERE inhparent = 'idem_keys'::regclass AND inhrelid = to_regclass($1))`, Table(number)).Scan(&attached); err != nil {
		return err
	}
	if attached {
		if err := ddl(ctx, conn, `ALTER TABLE idem_keys DETACH PARTITION `+Table(number)+` CONCURRENTLY`); err != nil {
			return err
		}
	}
	if err := fault.At(ctx, fault.Detached); err != nil {
		return err
	}
	if err := ddl(ctx, conn, `DROP TABLE IF EXISTS `+Table(number)); err != nil {
		return err
	}
	if err := fault.At(ctx, fault.Dropped); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, `DELETE FROM idem_key_gen WHERE gen = $1`, number)
	return err
}

// ddl runs one statement outside of any transaction block.
func ddl(ctx context.Context, conn *pgx.Conn, sql string) error {
	_, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}
