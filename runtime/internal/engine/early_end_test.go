package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// What a slow handler queued may fail when the transaction ends early: that is the fault of its
// record alone, which becomes a dead letter, and the records after it wait for no other one. Calls
// that are fast do not end a transaction.
func TestQueuedStatementThatFailsAtAnEarlyEndIsItsRecords(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	calls := map[int32]int{}
	c := rig.Service{Edit: func(s *wire.Service) { s.Limits.BatchTimeout = rig.SlowBatch }, Handle: func(_ context.Context, tx idem.Tx, row int32) error {
		if calls[row]++; row == 1 {
			time.Sleep(rig.SlowBatch/3 + 50*time.Millisecond)
		}
		tx.Queue(`INSERT INTO t VALUES ($1, 7)`, row)
		return nil
	}}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Want(t, "result", rig.Apply(t, w, rig.Records(0, "put 1 1", "call 4", "call 5", "call 1", "call 2", "put 3 3")), idem.Result{Applied: 5, Dead: 1})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=7 3=3 4=7 5=7")
	rig.Want(t, "dead letters", rig.Letters(t, db), "3 handler")
	rig.Want(t, "calls", fmt.Sprint(calls), "map[1:1 2:1 4:2 5:2]")
}
