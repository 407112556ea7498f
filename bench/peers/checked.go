package main

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// checked inserts the keys of a batch, and the rows whose keys were new, in one statement.
type checked struct {
	db     *pgxpool.Pool
	rows   columns
	insert string // rows behind their keys
	keys   []pgtype.UUID
	seen   map[pgtype.UUID]struct{} // of this batch
}

func newChecked(db *pgxpool.Pool) writer { return checking(db, &readings{}, insertNewReadings) }

func newPaymentsChecked(db *pgxpool.Pool) writer { return checking(db, &payments{}, insertNewPayments) }

func checking(db *pgxpool.Pool, rows columns, insert string) writer {
	return &checked{db: db, rows: rows, insert: insert, seen: map[pgtype.UUID]struct{}{}}
}

// freshKeys inserts the keys in their order, or two partitions with copies could deadlock.
const freshKeys = `
WITH fresh AS (
	INSERT INTO seen (key) SELECT key FROM unnest($1::uuid[]) AS key ORDER BY key
	ON CONFLICT DO NOTHING RETURNING key
)`

func (w *checked) write(ctx context.Context, batch []*kgo.Record) error {
	w.rows.clear()
	w.keys = w.keys[:0]
	clear(w.seen)
	for _, r := range batch {
		key, err := keyOf(r)
		if err != nil {
			return err
		}
		if _, copied := w.seen[key]; copied {
			continue
		}
		w.seen[key] = struct{}{}
		if err := w.rows.add(r); err != nil {
			return err
		}
		w.keys = append(w.keys, key)
	}
	_, err := w.db.Exec(ctx, w.insert, slices.Concat([]any{w.keys}, w.rows.args())...)
	return err
}
