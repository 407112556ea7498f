package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// addsSummed adds up what a batch adds to each account, and runs one statement. Which record it
// was that the database refuses, nobody could say then.
type addsSummed struct{ db *pgxpool.Pool }

func newAddsSummed(db *pgxpool.Pool) writer { return &addsSummed{db} }

// The accounts are locked in their order, or two partitions could deadlock.
const addSums = `
WITH locked AS (
	SELECT a.account_id, s.cents, s.bookings
	FROM accounts a JOIN unnest($1::text[], $2::bigint[], $3::bigint[]) AS s (account_id, cents, bookings) USING (account_id)
	ORDER BY a.account_id FOR UPDATE OF a
)
UPDATE accounts a SET balance = a.balance + l.cents, bookings = a.bookings + l.bookings
FROM locked l WHERE a.account_id = l.account_id`

func (a *addsSummed) write(ctx context.Context, batch []*kgo.Record) error {
	type sum struct{ cents, bookings int64 }
	sums := map[string]sum{}
	for _, r := range batch {
		b, err := decodeBooking(r)
		if err != nil {
			return err
		}
		s := sums[b.AccountID]
		sums[b.AccountID] = sum{s.cents + b.Cents, s.bookings + 1}
	}
	accounts := slices.Sorted(maps.Keys(sums))
	cents, bookings := make([]int64, len(accounts)), make([]int64, len(accounts))
	for i, account := range accounts {
		cents[i], bookings[i] = sums[account].cents, sums[account].bookings
	}
	tag, err := a.db.Exec(ctx, addSums, accounts, cents, bookings)
	if err == nil && tag.RowsAffected() != int64(len(accounts)) {
		err = fmt.Errorf("%d of %d accounts exist", tag.RowsAffected(), len(accounts))
	}
	return err
}
