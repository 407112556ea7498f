package generation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// makeLock serialises everybody who makes a generation's table, in any consumer: they share
// the numbering.
const makeLock = 0x1de36e4

const (
	// leftSQL finds a table that was attached and never opened: a run was interrupted, or
	// another consumer is about to open it, which the primary key of idem_key_gen decides.
	// Only numbers above the consumer's own count: they tell the order of opening.
	leftSQL = `
SELECT min(t.gen) FROM (SELECT substring(c.relname FROM 11)::int AS gen
	FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
	WHERE i.inhparent = 'idem_keys'::regclass AND NOT i.inhdetachpending AND c.relname ~ '^idem_keys_[0-9]{1,9}$') t
WHERE t.gen > (SELECT coalesce(max(gen), 0) FROM idem_key_gen WHERE consumer = $1)
	AND NOT EXISTS (SELECT FROM idem_key_gen g WHERE g.gen = t.gen)`

	// freeSQL is a number that no generation has and no table bears.
	freeSQL = `
SELECT 1 + greatest((SELECT coalesce(max(gen), 0) FROM idem_key_gen),
	(SELECT coalesce(max(substring(c.relname FROM 11)::int), 0) FROM pg_class c
	WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'idem_keys'::regclass) AND c.relname ~ '^idem_keys_[0-9]{1,9}$'))`

	openSQL = `
INSERT INTO idem_key_gen (gen, consumer, token, keep) VALUES ($1, $2, gen_random_uuid(), $3)`
)

// First opens the consumer's first generation, unless it has one open. keep is how long keys
// are kept after the seal.
func First(ctx context.Context, conn *pgx.Conn, consumer string, keep time.Duration) error {
	if open, err := hasOpen(ctx, conn, consumer); open || err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		number, err := table(ctx, tx, consumer)
		if err != nil {
			return err
		}
		if open, err := hasOpen(ctx, tx, consumer); open || err != nil {
			return err // another was first
		}
		_, err = tx.Exec(ctx, openSQL, number, consumer, keep)
		return err
	})
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func hasOpen(ctx context.Context, q querier, consumer string) (open bool, err error) {
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM idem_key_gen WHERE consumer = $1 AND sealed_at IS NULL)`, consumer).Scan(&open)
	return open, err
}

// Prepare makes the table of the consumer's next generation, unless an interrupted run left
// one. No claim can reach it before [Rotate] opens it.
func Prepare(ctx context.Context, conn *pgx.Conn, consumer string) (number int32, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		number, err = table(ctx, tx, consumer)
		return err
	})
	return number, err
}

// table finds or makes an attached table that no generation has yet. Neither blocks claims
// nor reads: ATTACH takes no lock that they would wait for.
func table(ctx context.Context, tx pgx.Tx, consumer string) (int32, error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, makeLock); err != nil {
		return 0, err
	}
	var left *int32
	if err := tx.QueryRow(ctx, leftSQL, consumer).Scan(&left); err != nil {
		return 0, err
	}
	if left != nil {
		return *left, nil
	}
	var number int32
	if err := tx.QueryRow(ctx, freeSQL).Scan(&number); err != nil {
		return 0, err
	}
	for _, sql := range []string{
		fmt.Sprintf(`CREATE TABLE %s (LIKE idem_keys, PRIMARY KEY (key))`, Table(number)),
		fmt.Sprintf(`ALTER TABLE idem_keys ATTACH PARTITION %s FOR VALUES IN (%d)`, Table(number), number),
	} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return 0, err
		}
	}
	return number, nil
}

// The seal waits for the claims in flight, and everything that wants to read or claim waits
// behind it: for sealWait at first, twice as long each time that was not enough, for
// mostWait at most, and then not again before sealPause times as long. What holds its lock
// for longer is hardly a batch.
const (
	sealWait  = 100 * time.Millisecond
	mostWait  = 10 * time.Second
	sealPause = 9
	sealTries = 8
)

// Rotate seals the consumer's open generation and opens the prepared one, in one
// transaction. It does so again, with pauses, while claims in flight hold it up. It never
// waits for longer than one of the consumer's transactions may take.
func Rotate(ctx context.Context, conn *pgx.Conn, consumer string, open, next int32, keep, transaction time.Duration) error {
	most := max(sealWait, min(transaction, mostWait))
	wait := sealWait
	for try := 1; ; try++ {
		err := seal(ctx, conn, consumer, open, next, keep, wait)
		switch pg, ok := errors.AsType[*pgconn.PgError](err); {
		case !ok || pg.Code != "55P03":
			return err
		case try == sealTries:
			return fmt.Errorf("others hold locks on it for longer than %v, at each of %d tries: %w", wait, try, err)
		}
		select {
		case <-time.After(sealPause * wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait = min(2*wait, most)
	}
}

// seal is one transaction: from its commit on nothing is added to the open generation, and
// the next one is open.
func seal(ctx context.Context, conn *pgx.Conn, consumer string, open, next int32, keep, wait time.Duration) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL lock_timeout = '%dms'`, wait.Milliseconds())); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf(`ALTER TABLE %s ADD CONSTRAINT idem_keys_sealed CHECK (false) NOT VALID`, Table(open))); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE idem_key_gen SET sealed_at = clock_timestamp() WHERE gen = $1 AND consumer = $2 AND sealed_at IS NULL`, open, consumer)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return fmt.Errorf("generation %d is not open any more", open)
		}
		_, err = tx.Exec(ctx, openSQL, next, consumer, keep)
		return err
	})
}
