package recordkeys

import (
	"context"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct{}

// SiteNamed runs after the step that writes the row.
func (Service) SiteNamed(ctx context.Context, tx idem.Tx, e SiteNamed) error {
	var name string
	return tx.QueryRow(ctx, `SELECT name FROM sites WHERE site_id = $1`, e.SiteID).Scan(&name)
}
