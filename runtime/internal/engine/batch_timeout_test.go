package engine_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// One record whose statements take longer than a transaction may: it is tried again alone, as
// often as on_failure says, and never by two backends at once. Then it is a dead letter, and
// the partition goes on.
func TestRecordThatExceedsTheBatchTimeoutIsGivenUp(t *testing.T) {
	for name, test := range map[string]struct{ bad, class string }{
		"in a statement":             {"put 9 9", "database"},
		"in a handler":               {"call 9", "handler"},
		"in a handler that computes": {"call 8", "handler"},
		"in a queued statement":      {"call -9", "handler"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			rig.Trigger(t, db, `IF NEW.id = 9 THEN PERFORM pg_sleep(60); END IF`)
			c := rig.Service{Policy: rig.Impatient, Edit: func(s *wire.Service) { s.Limits.BatchTimeout = 1500 * time.Millisecond }, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				if row == 8 {
					_, err := tx.Exec(ctx, `SELECT 1`)
					<-ctx.Done()
					return errors.Join(err, ctx.Err())
				}
				if row < 0 {
					tx.Queue(`INSERT INTO t VALUES ($1, 1)`, -row)
					return nil
				}
				_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
				return err
			}}.Consumer(t, db)
			sink := rig.Drive(t, c)
			rig.Assign(t, sink, 0)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			most, done := make(chan int, 1), make(chan struct{})
			go func() {
				n := 0
				for ; ; time.Sleep(10 * time.Millisecond) {
					select {
					case <-done:
						most <- n
						return
					default:
					}
					at, _ := strconv.Atoi(rig.Query(t, db, `SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database() AND state <> 'idle'`))
					n = max(n, at)
				}
			}()
			err := sink.Deliver(ctx, rig.First, rig.Records(0, "put 1 1", test.bad, "put 2 2"))
			close(done)
			if err != nil {
				t.Error(err)
			}
			rig.Want(t, "backends in a transaction at once", <-most, 1)
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
			rig.Want(t, "dead letters", rig.Letters(t, db), "1 "+test.class)
		})
	}
}
