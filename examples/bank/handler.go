package bank

import (
	"context"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct{}

// TransferRequested books the transfer if the debtor's balance covers it, and refuses it if not.
// An account that is not there breaks a foreign key, and the event becomes a dead letter.
func (Service) TransferRequested(ctx context.Context, tx idem.Tx, e TransferRequested) error {
	covered, err := tx.Exec(ctx, `UPDATE core.account SET balance_cents = balance_cents - $2 WHERE account_id = $1 AND balance_cents >= $2`, e.Debtor, e.Cents)
	if err != nil {
		return err
	}
	const columns = ` (transfer_id, debtor, creditor, cents, requested_at) VALUES ($1, $2, $3, $4, $5)`
	if covered.RowsAffected() == 0 {
		tx.Queue(`INSERT INTO refused_transfers`+columns, e.TransferID, e.Debtor, e.Creditor, e.Cents, e.RequestedAt)
		return nil
	}
	tx.Queue(`INSERT INTO transfers`+columns, e.TransferID, e.Debtor, e.Creditor, e.Cents, e.RequestedAt)
	tx.Queue(`UPDATE core.account SET balance_cents = balance_cents + $2 WHERE account_id = $1`, e.Creditor, e.Cents)
	return nil
}

// CardCaptured takes what was captured, and the fee for it, from the account. The generated code
// has written the capture before, in the same transaction. It refers to the account, so that one
// is there.
func (Service) CardCaptured(_ context.Context, tx idem.Tx, e CardCaptured) error {
	fee := foreignFee(e.Cents, e.Currency)
	tx.Queue(`UPDATE captures SET fee_cents = $2 WHERE entry_id = $1`, e.EntryID, fee)
	tx.Queue(`UPDATE core.account SET balance_cents = balance_cents - $2 WHERE account_id = $1`, e.AccountID, e.Cents+fee)
	return nil
}

// foreignFee is 1.75 % of payments that were not made in euros, cut to whole cents.
func foreignFee(cents int64, currency string) int64 {
	if currency == "EUR" {
		return 0
	}
	return cents * 175 / 10_000
}
