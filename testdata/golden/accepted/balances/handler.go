package balances

import (
	"context"
	"errors"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct{}

// Captured adds an amount to the balance.
func (Service) Captured(ctx context.Context, tx idem.Tx, e Captured) error {
	return book(ctx, tx, `UPDATE accounts SET balance = balance + $2 WHERE account_id = $1`, e.AccountID, e.Amount)
}

// Refunded takes it from there.
func (Service) Refunded(ctx context.Context, tx idem.Tx, e Refunded) error {
	return book(ctx, tx, `UPDATE accounts SET balance = balance - $2 WHERE account_id = $1`, e.AccountID, e.Amount)
}

func book(ctx context.Context, tx idem.Tx, sql string, account idem.UUID, amount idem.Decimal) error {
	tag, err := tx.Exec(ctx, sql, account, amount)
	if err == nil && tag.RowsAffected() == 0 {
		return idem.Permanent(errors.New("no such account"))
	}
	return err
}
