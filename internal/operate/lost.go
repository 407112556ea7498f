package operate

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Sealed is a sealed generation of keys whose keys were counted after its seal. Nothing is added
// to it or taken from it, so it has lost keys if it has fewer now.
type Sealed struct {
	Number int32
	Seal   string // names its content
	Keys   int64  // that were counted
}

// SealedKeys lists the sealed generations of a consumer whose keys were counted.
func SealedKeys(ctx context.Context, db DB, consumer string) ([]Sealed, error) {
	rows, err := db.Query(ctx, `
SELECT gen, seal::text, keys FROM idem_key_gen WHERE consumer = $1 AND sealed_at IS NOT NULL AND keys IS NOT NULL ORDER BY gen`, consumer)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Sealed])
}

// Lost counts the keys that the generation has lost, by reading all that it has. It is 0 if the
// generation has been forgotten meanwhile.
func (s *Sealed) Lost(ctx context.Context, db DB) (lost int64, err error) {
	err = db.QueryRow(ctx, `
SELECT greatest(coalesce((SELECT keys FROM idem_key_gen WHERE gen = $1 AND seal::text = $2), 0) - count(*), 0) FROM idem_keys WHERE gen = $1`,
		s.Number, s.Seal).Scan(&lost)
	return lost, err
}
