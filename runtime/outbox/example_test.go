package outbox_test

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// An event is written in the transaction that it belongs to, of a handler or of any other code: it
// is sent if, and only if, that transaction commits.
func ExampleWrite() {
	place := func(ctx context.Context, db *pgxpool.Pool, order string) error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO orders (id) VALUES ($1)`, order); err != nil {
				return err
			}
			return outbox.Write(ctx, tx, outbox.Event{
				AggregateType: "order", AggregateID: order, Type: "OrderPlaced", Payload: outbox.JSON(map[string]string{"order": order}),
			})
		})
	}
	_ = place
}
