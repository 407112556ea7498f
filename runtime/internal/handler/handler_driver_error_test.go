package handler_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// The driver's own error about a value quotes it, and a handler's error becomes the reason of
// a dead letter.
func TestDriverErrorQuotesNoPayload(t *testing.T) {
	t.Parallel()
	const sql = `UPDATE t SET v = $2 WHERE id = $1 RETURNING v`
	number := int64(4111111111111111)
	for name, run := range map[string]handle{
		"Exec": func(ctx context.Context, tx idem.Tx, row int32) error {
			_, err := tx.Exec(ctx, sql, row, number)
			return err
		},
		"Query": func(ctx context.Context, tx idem.Tx, row int32) error {
			rows, _ := tx.Query(ctx, sql, row, number)
			rows.Close()
			return rows.Err()
		},
		"QueryRow": func(ctx context.Context, tx idem.Tx, row int32) error {
			return tx.QueryRow(ctx, sql, row, number).Scan(new(int32))
		},
		"Queue": func(_ context.Context, tx idem.Tx, row int32) error {
			tx.Queue(sql, row, number)
			return nil
		},
		"SendBatch": func(ctx context.Context, tx idem.Tx, row int32) error {
			b := &pgx.Batch{}
			b.Queue(sql, row, number)
			return tx.SendBatch(ctx, b).Close()
		},
		"CopyFrom": func(ctx context.Context, tx idem.Tx, row int32) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromRows([][]any{{row, number}}))
			return err
		},
		"PgxTx": func(ctx context.Context, tx idem.Tx, row int32) error {
			_, err := idem.PgxTx(tx).Exec(ctx, sql, row, number)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{Handle: run}.Consumer(t, db))
			rig.Apply(t, w, rig.Records(0, "call 1"))
			reason := rig.Query(t, db, `SELECT reason FROM idem_dead_letter`)
			if strings.Contains(reason, "4111111111111111") || !strings.Contains(reason, "handler") {
				t.Errorf("the reason quotes the payload, or is another: %s", reason)
			}
		})
	}
}
