package idem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// generationLock serialises everybody who makes a generation of keys, in any consumer: they
// share the numbering.
const generationLock = 0x1de36e4

// openGeneration makes the consumer's first generation of keys, unless there is one. A
// generation is a partition of idem_keys; keys are unique in it by its primary key.
func (c *Consumer) openGeneration(ctx context.Context, conn *pgxpool.Conn) error {
	keep := time.Duration(0)
	for _, t := range c.service.Topics {
		keep = max(keep, t.Window)
	}
	var gen int32
	var token UUID
	err := conn.QueryRow(ctx, openGenerationSQL, c.service.Consumer).Scan(&gen, &token)
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, generationLock); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, openGenerationSQL, c.service.Consumer).Scan(&gen, &token)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err // another was first
		}
		if err := tx.QueryRow(ctx, `SELECT coalesce(max(gen), 0) + 1 FROM idem_key_gen`).Scan(&gen); err != nil {
			return err
		}
		for _, sql := range []string{
			fmt.Sprintf(`CREATE TABLE idem_keys_%d (LIKE idem_keys, PRIMARY KEY (key))`, gen),
			fmt.Sprintf(`ALTER TABLE idem_keys ATTACH PARTITION idem_keys_%d FOR VALUES IN (%d)`, gen, gen),
		} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO idem_key_gen (gen, consumer, token, keep) VALUES ($1, $2, gen_random_uuid(), $3)`,
			gen, c.service.Consumer, keep)
		return err
	})
}
