package payments

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
)

// New returns the consumer. The bench replaces its body where the spec has a handler.
func New(db *pgxpool.Pool, opts ...idem.Option) (*idem.Consumer, error) {
	return NewConsumer(db, opts...)
}

// Queueing implements Handler in the bench's variants of the spec with `handle: true`.
type Queueing struct{}

// Payment queues the row that the spec would insert.
func (Queueing) Payment(_ context.Context, tx idem.Tx, e Payment) error {
	tx.Queue(insert, e.PaymentID, e.AccountID, e.Amount, e.PaidAt)
	return nil
}

const insert = `INSERT INTO payments (payment_id, account_id, amount, paid_at) VALUES ($1, $2, $3, $4)`
