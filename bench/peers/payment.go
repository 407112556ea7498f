package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/twmb/franz-go/pkg/kgo"
)

// payment is what a record's value holds, as far as it is used. The database reads the amount: an
// error of one ends the batch.
type payment struct {
	PaymentID pgtype.UUID `json:"payment_id"`
	AccountID string      `json:"account_id"`
	Amount    string      `json:"amount"`
	PaidAt    time.Time   `json:"paid_at"`
}

func decodePayment(r *kgo.Record) (payment, error) {
	var one payment
	if err := json.Unmarshal(r.Value, &one); err != nil {
		return one, fmt.Errorf("partition %d, offset %d: %w", r.Partition, r.Offset, err)
	}
	return one, nil
}

const insertPayments = `
INSERT INTO payments (payment_id, account_id, amount, paid_at)
SELECT p.payment_id, p.account_id, p.amount::numeric, p.paid_at
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) AS p (payment_id, account_id, amount, paid_at)`

const insertNewPayments = freshKeys + `
INSERT INTO payments (payment_id, account_id, amount, paid_at)
SELECT p.payment_id, p.account_id, p.amount::numeric, p.paid_at
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])
	AS p (key, payment_id, account_id, amount, paid_at)
JOIN fresh USING (key)`

// payments holds payments the way unnest takes them.
type payments struct {
	ids      []pgtype.UUID
	accounts []string
	amounts  []string
	times    []time.Time
}

func (c *payments) clear() {
	c.ids, c.accounts, c.amounts, c.times = c.ids[:0], c.accounts[:0], c.amounts[:0], c.times[:0]
}

func (c *payments) args() []any { return []any{c.ids, c.accounts, c.amounts, c.times} }

func (c *payments) add(record *kgo.Record) error {
	p, err := decodePayment(record)
	if err != nil {
		return err
	}
	c.ids = append(c.ids, p.PaymentID)
	c.accounts = append(c.accounts, p.AccountID)
	c.amounts = append(c.amounts, p.Amount)
	c.times = append(c.times, p.PaidAt)
	return nil
}

// insertPayment is the statement that a handler queues for each record.
var insertPayment = statement{
	sql: `INSERT INTO payments (payment_id, account_id, amount, paid_at) VALUES ($1, $2, $3, $4)`,
	args: func(r *kgo.Record) ([]any, error) {
		p, err := decodePayment(r)
		return []any{p.PaymentID, p.AccountID, p.Amount, p.PaidAt}, err
	},
}
