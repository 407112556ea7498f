package bank

import (
	"context"

	idem "github.com/idemgen/idemgen/runtime"
)

// Service implements Handler.
type Service struct{}

// CardCaptured takes what was captured, and the fee for it, from the account. The generated code
// has written the capture before, in the same transaction. It refers to the account, so that one
// is there.
func (Service) CardCaptured(ctx context.Context, tx idem.Tx, e CardCaptured) error {
	fee := foreignFee(e.Cents, e.Currency)
	if _, err := tx.Exec(ctx, `UPDATE captures SET fee_cents = $2 WHERE entry_id = $1`, e.EntryID, fee); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE core.account SET balance_cents = balance_cents - $2 WHERE account_id = $1`, e.AccountID, e.Cents+fee)
	return err
}

// foreignFee is 1.75 % of payments that were not made in euros, cut to whole cents.
func foreignFee(cents int64, currency string) int64 {
	if currency == "EUR" {
		return 0
	}
	return cents * 175 / 10_000
}
