package handler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A record that is applied again, as after a failover that lost its commit, sends its events under
// the same ids, in whatever order the handler sends them. No two events share an id.
func TestEventsOfAHandlerKeepTheirIDs(t *testing.T) {
	t.Parallel()
	event := func(kind string) outbox.Event {
		return outbox.Event{AggregateType: "a", AggregateID: "1", Type: kind}
	}
	sentAt := func(when time.Time, order ...string) string {
		db := rig.Database(t)
		if _, err := db.Exec(t.Context(), outbox.Migration(outbox.ByRelay)); err != nil {
			t.Fatal(err)
		}
		failed := false
		w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
			for _, kind := range order {
				if err := outbox.Write(ctx, tx, event(kind)); err != nil {
					return err
				}
			}
			if !failed { // what a failed call sent does not count
				failed = true
				return errors.New("try again")
			}
			return pgx.BeginFunc(ctx, idem.PgxTx(tx), func(savepoint pgx.Tx) error {
				return outbox.Write(ctx, savepoint, event("B"))
			})
		}, Policy: rig.Impatient}.Consumer(t, db))
		for w.Next() < 2 {
			batch := rig.Records(0, "call 1", "call 1")
			batch[0].Time = when
			_, _ = w.Apply(t.Context(), batch)
		}
		with := rig.Records(2, "call 1")
		with[0].Headers = []idem.Header{{Name: "key", Value: []byte("k")}}
		rig.Apply(t, w, with)
		rig.Want(t, "ids", rig.Query(t, db, `SELECT count(DISTINCT id)::text FROM idem_outbox WHERE substr(id::text, 15, 1) = '8'`), "12")
		return rig.Query(t, db, `SELECT string_agg(type || ' ' || id, E'\n' ORDER BY type, id) FROM idem_outbox`)
	}
	sent := func(order ...string) string { return sentAt(time.UnixMilli(1), order...) }
	first := sent("A", "B", "A")
	rig.Want(t, "ids after a failover", sent("A", "B", "A"), first)
	rig.Want(t, "ids in another order", sent("B", "A", "A"), first)
	if sentAt(time.UnixMilli(2), "A", "B", "A") == first {
		t.Error("another record at the offset, as after a cut of the log, sends events under the same ids")
	}
}
