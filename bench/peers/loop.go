package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// loop handles the records of a batch one by one, in one transaction.
type loop struct{ db *pgxpool.Pool }

func newLoop(db *pgxpool.Pool) writer { return &loop{db} }

func (l *loop) write(ctx context.Context, batch []*kgo.Record) error {
	return pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		for _, r := range batch {
			if err := handle(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// handle runs the statement of one record.
func handle(ctx context.Context, tx pgx.Tx, r *kgo.Record) error {
	args, err := updateDevice.args(r)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, updateDevice.sql, args...)
	if err != nil {
		return err
	}
	return wrote(r, tag)
}
