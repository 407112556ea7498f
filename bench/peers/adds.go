package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// booking is what a record's value holds, as far as it is used.
type booking struct {
	AccountID string `json:"account_id"`
	Cents     int64  `json:"cents"`
}

func decodeBooking(r *kgo.Record) (booking, error) {
	var one booking
	if err := json.Unmarshal(r.Value, &one); err != nil {
		return one, fmt.Errorf("partition %d, offset %d: %w", r.Partition, r.Offset, err)
	}
	return one, nil
}

// byAccount orders bookings by their accounts: all partitions write the same few accounts, and
// would deadlock if each locked them in an order of its own.
func byAccount(a, b booking) int { return cmp.Compare(a.AccountID, b.AccountID) }

// adds runs one UPDATE per record, all of a batch in one transaction and one round trip.
type adds struct{ db *pgxpool.Pool }

func newAdds(db *pgxpool.Pool) writer { return &adds{db} }

func (a *adds) write(ctx context.Context, batch []*kgo.Record) error {
	bookings, err := decodeBookings(batch)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, a.db, func(tx pgx.Tx) error { return book(ctx, tx, bookings) })
}

func decodeBookings(batch []*kgo.Record) ([]booking, error) {
	bookings := make([]booking, len(batch))
	for i, r := range batch {
		var err error
		if bookings[i], err = decodeBooking(r); err != nil {
			return nil, err
		}
	}
	return bookings, nil
}

const addToAccount = `UPDATE accounts SET balance = balance + $2, bookings = bookings + 1 WHERE account_id = $1`

// book adds each booking to its account.
func book(ctx context.Context, tx pgx.Tx, bookings []booking) error {
	slices.SortStableFunc(bookings, byAccount)
	var queued pgx.Batch
	for _, b := range bookings {
		queued.Queue(addToAccount, b.AccountID, b.Cents)
	}
	results := tx.SendBatch(ctx, &queued)
	defer results.Close()
	for _, b := range bookings {
		tag, err := results.Exec()
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("account %s does not exist", b.AccountID)
		}
	}
	return results.Close()
}
