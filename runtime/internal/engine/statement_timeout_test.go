package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// A statement that takes too long is tried again as often as on_failure says, and not once
// more: neither is a record lost to a time-out that would have passed, nor does one that
// always takes too long hold its partition up for ever.
func TestTimeOutsAreRetriedThenGivenUp(t *testing.T) {
	t.Parallel()
	insert := func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
		return err
	}
	for _, of := range []struct{ name, record, reason string }{
		{"a statement of the batch", "put 9 1", "0 database"},
		{"a statement of a handler", "call 9", "0 handler"},
	} {
		for _, test := range []struct {
			name, rows  string
			times       int // that the record takes too long
			tries, dead int
		}{
			{name: "it passes within the retries", times: rig.Impatient.Retries, tries: rig.Impatient.Retries + 1, rows: "5=5 9=1"},
			{name: "it lasts for longer", times: 3 * rig.Impatient.Retries, tries: rig.Impatient.Retries + 1, rows: "5=5", dead: 1},
		} {
			t.Run(of.name+", "+test.name, func(t *testing.T) {
				db := rig.Database(t)
				idemtest.Exec(t, db, `CREATE SEQUENCE tries`) // it counts on when a transaction is rolled back
				rig.Trigger(t, db, fmt.Sprintf(`IF NEW.id = 9 AND nextval('tries') <= %d THEN RAISE query_canceled; END IF`, test.times))
				sink := rig.Drive(t, rig.Service{Policy: rig.Impatient, Handle: insert}.Consumer(t, db))
				rig.Assign(t, sink, 0)
				rig.Deliver(t, sink, rig.Records(0, of.record))
				rig.Deliver(t, sink, rig.Records(1, "put 5 5"))
				rig.Want(t, "rows", rig.Table(t, db), test.rows)
				rig.Want(t, "tries", rig.Query(t, db, `SELECT last_value::text FROM tries`), fmt.Sprint(test.tries))
				dead := ""
				if test.dead > 0 {
					dead = of.reason
				}
				rig.Want(t, "dead letters", rig.Letters(t, db), dead)
			})
		}
	}
}
