package vault

import (
	"context"

	idem "github.com/idemgen/idemgen/runtime"
)

// Service implements Handler.
type Service struct{}

// Joined notes who was welcomed, by what the codecs made of the record.
func (Service) Joined(ctx context.Context, tx idem.Tx, e Joined) error {
	_, err := tx.Exec(ctx, `UPDATE people SET welcomed = $2 WHERE person_id = $1`, e.PersonID, e.Email+" of "+e.Address.Street)
	return err
}
