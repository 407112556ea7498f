package idem_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
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
			{name: "it passes within the retries", times: impatient.Retries, tries: impatient.Retries + 1, rows: "5=5 9=1"},
			{name: "it lasts for longer", times: 3 * impatient.Retries, tries: impatient.Retries + 1, rows: "5=5", dead: 1},
		} {
			t.Run(of.name+", "+test.name, func(t *testing.T) {
				db := database(t)
				idemtest.Exec(t, db, `CREATE SEQUENCE tries`) // it counts on when a transaction is rolled back
				trigger(t, db, fmt.Sprintf(`IF NEW.id = 9 AND nextval('tries') <= %d THEN RAISE query_canceled; END IF`, test.times))
				sink := drive(t, service{policy: impatient, handle: insert}.consumer(t, db))
				assign(t, sink, 0)
				deliver(t, sink, records(0, of.record))
				deliver(t, sink, records(1, "put 5 5"))
				want(t, "rows", table(t, db), test.rows)
				want(t, "tries", query(t, db, `SELECT last_value::text FROM tries`), fmt.Sprint(test.tries))
				dead := ""
				if test.dead > 0 {
					dead = of.reason
				}
				want(t, "dead letters", letters(t, db), dead)
			})
		}
	}
}
