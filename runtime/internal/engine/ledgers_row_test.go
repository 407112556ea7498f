package engine_test

import (
	"context"
	"testing"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// A handler that deletes or moves the ledger's row of its own batch, by a statement that leaves
// nothing behind otherwise, commits nothing.
func TestHandlerThatTouchesTheLedgersRowCommitsNothing(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"DELETE": `DELETE FROM idem_ledger WHERE kind = 'b'`,
		"UPDATE": `UPDATE idem_ledger SET token = gen_random_uuid() WHERE kind = 'b'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{Policy: rig.Impatient, Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
				_, err := tx.Exec(ctx, sql)
				return err
			}}.Consumer(t, db))
			_, err := w.Apply(t.Context(), rig.Records(0, "call 1"))
			rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.Handler)
			rig.Want(t, "position", rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`), "0")
		})
	}
}
