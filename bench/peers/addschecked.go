package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// addsChecked does what adds does, for the records whose keys were new.
type addsChecked struct {
	db   *pgxpool.Pool
	keys []pgtype.UUID
}

func newAddsChecked(db *pgxpool.Pool) writer { return &addsChecked{db: db} }

func (a *addsChecked) write(ctx context.Context, batch []*kgo.Record) error {
	a.keys = a.keys[:0]
	for _, r := range batch {
		key, err := keyOf(r)
		if err != nil {
			return err
		}
		a.keys = append(a.keys, key)
	}
	bookings, err := decodeBookings(batch)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, a.db, func(tx pgx.Tx) error {
		fresh, err := insertNewKeys(ctx, tx, a.keys)
		if err != nil {
			return err
		}
		first := bookings[:0]
		for i, b := range bookings {
			if _, ok := fresh[a.keys[i]]; ok {
				delete(fresh, a.keys[i]) // a copy in the same batch
				first = append(first, b)
			}
		}
		return book(ctx, tx, first)
	})
}
