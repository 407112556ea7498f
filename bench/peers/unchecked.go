package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// unchecked inserts a batch in one statement, and knows no copies.
type unchecked struct {
	db     *pgxpool.Pool
	rows   columns
	insert string // rows
}

func newUnchecked(db *pgxpool.Pool) writer { return &unchecked{db, &readings{}, insertReadings} }

func newPaymentsUnchecked(db *pgxpool.Pool) writer {
	return &unchecked{db, &payments{}, insertPayments}
}

func (u *unchecked) write(ctx context.Context, batch []*kgo.Record) error {
	u.rows.clear()
	for _, r := range batch {
		if err := u.rows.add(r); err != nil {
			return err
		}
	}
	_, err := u.db.Exec(ctx, u.insert, u.rows.args()...)
	return err
}
