package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// newID inserts the event's id, and reports whether it was new.
func newID(ctx context.Context, db execer, id string) (bool, error) {
	tag, err := db.Exec(ctx, `INSERT INTO processed_ids (id) VALUES ($1) ON CONFLICT DO NOTHING`, id)
	return err == nil && tag.RowsAffected() == 1, err
}

// idsTogether inserts the id and applies the event in one transaction, as
// https://microservices.io/patterns/communication-style/idempotent-consumer.html describes.
func idsTogether(ctx context.Context, brokers string, db *pgxpool.Pool) error {
	return consume(ctx, brokers, func(ctx context.Context, r *kgo.Record) error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			if fresh, err := newID(ctx, tx, key(r)); err != nil || !fresh {
				return err
			}
			return book(ctx, tx, r.Value)
		})
	})
}

// idsApart is the same without the transaction around both, as many articles have it:
// docs/articles.md, "A row per message in a transaction of its own".
func idsApart(ctx context.Context, brokers string, db *pgxpool.Pool) error {
	return consume(ctx, brokers, func(ctx context.Context, r *kgo.Record) error {
		if fresh, err := newID(ctx, db, key(r)); err != nil || !fresh {
			return err
		}
		return book(ctx, db, r.Value)
	})
}
