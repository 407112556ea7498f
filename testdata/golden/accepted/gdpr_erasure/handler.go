package profiles

import (
	"context"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct {
	// Open decrypts what was encrypted with a user's key.
	Open func(user idem.UUID, sealed []byte) (string, error)
}

// ProfileSaved stores the e-mail. The steps have made the row.
func (s Service) ProfileSaved(ctx context.Context, tx idem.Tx, e ProfileSaved) error {
	email, err := s.Open(e.UserID, e.Email)
	if err != nil {
		return idem.Permanent(err)
	}
	_, err = tx.Exec(ctx, `UPDATE profiles SET email = $2 WHERE user_id = $1`, e.UserID, email)
	return err
}
