package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// offsets keeps the position of each partition in Postgres, in the transaction of the effect, and
// starts from there: "Storing Offsets Outside Kafka" in the documentation of Java's consumer, and
// https://blog.stormlantern.nl/posts/2026-05-10-transactional-consumer-pattern-kafka-postgresql/
// The offset in Kafka is a hint.
func offsets(ctx context.Context, brokers string, db *pgxpool.Pool) error {
	return consumeFromPostgres(ctx, brokers, db, func(ctx context.Context, tx pgx.Tx, r *kgo.Record) error {
		_, err := tx.Exec(ctx, `INSERT INTO consumed_offsets VALUES ($1, $2) ON CONFLICT (partition) DO UPDATE SET next = $2`, r.Partition, r.Offset+1)
		return err
	})
}

// offsetsCompared moves a position only from where this process believes it is, so a process that
// has lost its partition cannot commit.
func offsetsCompared(ctx context.Context, brokers string, db *pgxpool.Pool) error {
	return consumeFromPostgres(ctx, brokers, db, func(ctx context.Context, tx pgx.Tx, r *kgo.Record) error {
		tag, err := tx.Exec(ctx, `INSERT INTO consumed_offsets AS o VALUES ($1, $2) ON CONFLICT (partition) DO UPDATE SET next = $2 WHERE o.next = $3`,
			r.Partition, r.Offset+1, r.Offset)
		if err == nil && tag.RowsAffected() == 0 {
			err = fmt.Errorf("partition %d is not at offset %d: another process has it", r.Partition, r.Offset)
		}
		return err
	})
}

func consumeFromPostgres(ctx context.Context, brokers string, db *pgxpool.Pool, move func(context.Context, pgx.Tx, *kgo.Record) error) error {
	seek := func(ctx context.Context, assigned map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
		rows, err := db.Query(ctx, `SELECT partition, next FROM consumed_offsets`)
		if err != nil {
			return nil, err
		}
		var partition int32
		var next int64
		_, err = pgx.ForEachRow(rows, []any{&partition, &next}, func() error {
			if _, ok := assigned[topic][partition]; ok {
				assigned[topic][partition] = kgo.NewOffset().At(next)
			}
			return nil
		})
		return assigned, err
	}
	return consume(ctx, brokers, func(ctx context.Context, r *kgo.Record) error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			if err := book(ctx, tx, r.Value); err != nil {
				return err
			}
			return move(ctx, tx, r)
		})
	}, kgo.AdjustFetchOffsetsFn(seek))
}
