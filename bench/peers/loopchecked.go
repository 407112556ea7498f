package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// loopChecked inserts the keys of a batch, and handles the records whose keys were new one by
// one, in one transaction.
type loopChecked struct {
	db   *pgxpool.Pool
	keys []pgtype.UUID
}

func newLoopChecked(db *pgxpool.Pool) writer { return &loopChecked{db: db} }

// The keys are inserted in their order, or two partitions with copies could deadlock.
const insertKeys = `
INSERT INTO seen (key) SELECT key FROM unnest($1::uuid[]) AS key ORDER BY key
ON CONFLICT DO NOTHING RETURNING key`

func (l *loopChecked) write(ctx context.Context, batch []*kgo.Record) error {
	l.keys = l.keys[:0]
	for _, r := range batch {
		key, err := keyOf(r)
		if err != nil {
			return err
		}
		l.keys = append(l.keys, key)
	}
	return pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		fresh, err := insertNewKeys(ctx, tx, l.keys)
		if err != nil {
			return err
		}
		for i, r := range batch {
			if _, ok := fresh[l.keys[i]]; !ok {
				continue
			}
			delete(fresh, l.keys[i]) // a copy in the same batch
			if err := handle(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// insertNewKeys returns the keys that were not there.
func insertNewKeys(ctx context.Context, tx pgx.Tx, keys []pgtype.UUID) (map[pgtype.UUID]struct{}, error) {
	rows, err := tx.Query(ctx, insertKeys, keys)
	if err != nil {
		return nil, err
	}
	fresh := make(map[pgtype.UUID]struct{}, len(keys))
	var key pgtype.UUID
	_, err = pgx.ForEachRow(rows, []any{&key}, func() error {
		fresh[key] = struct{}{}
		return nil
	})
	return fresh, err
}
