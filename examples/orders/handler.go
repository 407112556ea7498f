package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct{}

// OrderPaid adds a payment to what was paid for its order. The generated code has written
// the row of the payment before, in the same transaction.
func (Service) OrderPaid(_ context.Context, tx idem.Tx, e OrderPaid) error {
	paid := tx.Queue(`UPDATE orders SET paid = paid + $2 WHERE order_id = $1`, e.OrderID, e.Amount)
	paid.Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return idem.Permanent(fmt.Errorf("order %s does not exist", e.OrderID))
		}
		return nil
	})
	return nil
}
