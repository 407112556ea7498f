package generation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
)

// Functions of the runtime's migration create, seal and empty the tables of keys, so the service's
// role needs no right to change tables.

// First opens the consumer's first generation, unless one is open. keep is how long keys are kept
// after the seal.
func First(ctx context.Context, conn *pgx.Conn, consumer string, keep time.Duration) error {
	var open bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM idem_key_gen WHERE consumer = $1 AND sealed_at IS NULL)`, consumer).Scan(&open)
	if open || err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `SELECT idem_keys_open($1::text, $2::interval)`, consumer, keep)
	return err
}

// Prepare finds or creates a table for the next generation of any consumer. No claim can reach it
// before [Rotate] opens it. Until then another consumer may take it first; the primary key of
// idem_key_gen decides.
func Prepare(ctx context.Context, conn *pgx.Conn) (number int32, err error) {
	err = conn.QueryRow(ctx, `SELECT idem_keys_prepare()`).Scan(&number)
	return number, err
}

// A statement that changes a table waits for the transactions that use it, and later reads and
// claims wait behind it. So it waits at first for lockWait, then twice as long each time, up to
// mostWait, and pauses in between for lockPause times as long. A transaction that holds its lock
// for longer is probably not a batch.
const (
	lockWait  = 100 * time.Millisecond
	mostWait  = 10 * time.Second
	lockPause = 9
	lockTries = 8
)

// Rotate seals the consumer's open generation and opens the prepared one, in one transaction,
// after whose commit nothing is added to the sealed generation. It retries, with pauses, while
// claims in flight delay it. It never waits for longer than one of the consumer's transactions may
// take.
func Rotate(ctx context.Context, conn *pgx.Conn, consumer string, open, next int32, keep, transaction time.Duration) error {
	return patiently(ctx, conn, transaction, `SELECT idem_keys_seal($1::text, $2::int, $3::int, $4::interval)`, consumer, open, next, keep)
}

// patiently runs a statement that needs a lock.
func patiently(ctx context.Context, conn *pgx.Conn, transaction time.Duration, sql string, args ...any) error {
	most := max(lockWait, min(transaction, mostWait))
	wait := lockWait
	for try := 1; ; try++ {
		err := within(ctx, conn, wait, sql, args...)
		switch pg, ok := errors.AsType[*pgconn.PgError](err); {
		case !ok || pg.Code != "55P03":
			return err
		case try == lockTries:
			return fmt.Errorf("other transactions held locks on it for longer than %v, in each of %d attempts: %w", wait, try, err)
		}
		if !backoff.Sleep(ctx, lockPause*wait) {
			return ctx.Err()
		}
		wait = min(2*wait, most)
	}
}

// within runs a statement in a transaction of its own, with wait as the lock timeout.
func within(ctx context.Context, conn *pgx.Conn, wait time.Duration, sql string, args ...any) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL lock_timeout = '%dms'`, wait.Milliseconds())); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sql, args...)
		return err
	})
}
