package accountstream

import (
	"context"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct{}

// AccountNoted takes the next number of the account. One owner applies a partition, and the account
// is the record key, so that nobody else takes it.
func (Service) AccountNoted(ctx context.Context, tx idem.Tx, e AccountNoted) error {
	_, err := tx.Exec(ctx, `INSERT INTO account_audit (account_id, entry, event_id, note)
SELECT $1, coalesce(max(entry), 0) + 1, $2, $3 FROM account_audit WHERE account_id = $1`, e.AccountID, e.EventID, e.Note)
	return err
}
