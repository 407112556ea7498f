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

// The tables of keys are made, sealed and emptied by functions of the runtime's migration,
// so that the service's role needs no right to change tables.

// First opens the consumer's first generation, unless it has one open. keep is how long keys
// are kept after the seal.
func First(ctx context.Context, conn *pgx.Conn, consumer string, keep time.Duration) error {
	var open bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM idem_key_gen WHERE consumer = $1 AND sealed_at IS NULL)`, consumer).Scan(&open)
	if open || err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `SELECT idem_keys_open($1::text, $2::interval)`, consumer, keep)
	return err
}

// Prepare finds or makes a table for the next generation of any consumer. No claim can reach
// it before [Rotate] opens it; until then another consumer may be faster, which the primary
// key of idem_key_gen decides.
func Prepare(ctx context.Context, conn *pgx.Conn) (number int32, err error) {
	err = conn.QueryRow(ctx, `SELECT idem_keys_prepare()`).Scan(&number)
	return number, err
}

// What changes a table waits for those who use it, and everything that wants to read or claim
// waits behind it: for lockWait at first, twice as long each time that was not enough, for
// mostWait at most, and then not again before lockPause times as long. What holds its lock
// for longer is hardly a batch.
const (
	lockWait  = 100 * time.Millisecond
	mostWait  = 10 * time.Second
	lockPause = 9
	lockTries = 8
)

// Rotate seals the consumer's open generation and opens the prepared one, in one
// transaction: from its commit on nothing is added to the open generation. It does so again,
// with pauses, while claims in flight hold it up. It never waits for longer than one of the
// consumer's transactions may take.
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

// within runs a statement in a transaction of its own, which waits for each lock that long.
func within(ctx context.Context, conn *pgx.Conn, wait time.Duration, sql string, args ...any) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL lock_timeout = '%dms'`, wait.Milliseconds())); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sql, args...)
		return err
	})
}
