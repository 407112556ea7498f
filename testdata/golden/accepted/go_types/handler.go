package till

import (
	"context"
	"fmt"

	idem "github.com/idemgen/idemgen/runtime"
)

// Service implements Handler.
type Service struct{}

// Paid writes what it got, as its Go types tell it.
func (Service) Paid(ctx context.Context, tx idem.Tx, e Paid) error {
	receipt := fmt.Sprintf("%s paid %s in %d items", e.CustomerID, &e.Total, len(e.Items))
	for i := range e.Items {
		receipt += fmt.Sprintf(", %s for %s", e.Items[i].SKU, &e.Items[i].Price)
	}
	_, err := tx.Exec(ctx, `UPDATE payments SET receipt = $2 WHERE payment_id = $1`, idem.UUID(e.PaymentID), receipt)
	return err
}
