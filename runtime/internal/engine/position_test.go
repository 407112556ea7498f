package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// idleAt tells that the first partition is idle, and was read to end.
func idleAt(t testing.TB, sink idem.Sink, end int64) error {
	t.Helper()
	return sink.Idle(t.Context(), rig.First, end)
}

const positionSQL = `SELECT string_agg(kind::text || next, ' ' ORDER BY seq) FROM idem_ledger`

// The position follows the log over what holds no records, once.
func TestPositionFollowsTheLogOverMarkers(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
	for _, end := range []int64{-1, 0, 1, 3, 3, 2} {
		if err := idleAt(t, sink, end); err != nil {
			t.Fatalf("idle at %d: %v", end, err)
		}
	}
	rig.Want(t, "hint", sink.Durable(rig.First).Offset, 3)
	rig.Deliver(t, sink, rig.Records(3, "put 2 2"))
	rig.Want(t, "the chain", rig.Query(t, db, positionSQL), "g0 f0 b1 b3 b4")
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

// A passing row whose reply is lost stands or does not: the position is right in both cases,
// and what comes then is applied once.
func TestPassingInDoubt(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]cutproxy.Rule{
		"it stands":         replyIsLost(appended),
		"it did not arrive": doesNotArrive(appended),
	} {
		for _, then := range []string{"idle", "a record"} {
			t.Run(name+", then "+then, func(t *testing.T) {
				db := rig.Database(t)
				proxy, through := cutproxy.Pool(t, db)
				c := rig.Service{}.Consumer(t, through)
				sink := rig.Drive(t, c)
				rig.Assign(t, sink, 0)
				rig.Deliver(t, sink, rig.Records(0, "add 1 1"))
				cut := proxy.Once(rule)
				if err := idleAt(t, sink, 3); err != nil {
					t.Fatal(err)
				}
				<-cut
				if err := c.Health().Err(); err == nil || !strings.Contains(err.Error(), "the connection was lost") {
					t.Errorf("health in doubt: %v", err)
				}
				if then == "idle" {
					if err := idleAt(t, sink, 3); err != nil {
						t.Fatal(err)
					}
					rig.Want(t, "position", rig.Query(t, db, `SELECT max(next) FROM idem_ledger`), "3")
				} else {
					rig.Deliver(t, sink, rig.Records(3, "add 2 2"))
					rig.Want(t, "position", rig.Query(t, db, `SELECT max(next) FROM idem_ledger`), "4")
					rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
				}
				if err := c.Health().Err(); err != nil {
					t.Errorf("health: %v", err)
				}
			})
		}
	}
}

// Passing is an append like any other: an owner that lost the partition moves nothing.
func TestPassingIsFenced(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.AppendRow(t, db, "f", "next", "another process")
	rig.WantError[*idem.FencedError](t, idleAt(t, sink, 3))
	rig.Want(t, "position", rig.Query(t, db, `SELECT max(next) FROM idem_ledger`), "0")
}

// A database that will not take the row is for a person; one that is away is not.
func TestPassingThatIsRefusedHalts(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeSend {
			return rig.ErrCut
		}
		return nil
	})
	if err := sink.Idle(ctx, rig.First, 3); err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, `ALTER TABLE idem_ledger RENAME COLUMN info TO later`)
	halted := rig.WantError[*idem.HaltedError](t, idleAt(t, sink, 3))
	rig.Want(t, "offset", halted.Offset, -1)
}

// A deployment that fails every record, and is restarted after each: the count of dead
// letters in a row outlives that, whatever stands between the records.
func TestCrashLoopOverMarkersHalts(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	s := rig.Service{Policy: wire.FailurePolicy{StopAfter: 3, Keep: time.Hour}}
	for offset := int64(0); offset < 20; offset += 2 {
		sink := rig.Drive(t, s.Consumer(t, db))
		rig.Assign(t, sink, offset)
		err := sink.Deliver(t.Context(), rig.First, rig.Records(offset, "nonsense"))
		if offset == 6 {
			rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.DeadLetters)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := idleAt(t, sink, offset+2); err != nil {
			t.Fatal(err)
		}
		sink.Revoked(rig.First)
	}
}

// A partition that stands gets nothing but fences, and what is older is removed: the count is
// not.
func TestDeadLettersInARowOutliveTheirRows(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	s := rig.Service{Policy: wire.FailurePolicy{StopAfter: 2, Keep: time.Hour}}
	for range 3 {
		sink := rig.Drive(t, s.Consumer(t, db))
		at, err := sink.Assigned(t.Context(), rig.NewSource(nil).Assignment)
		if err != nil {
			t.Fatal(err)
		}
		halted := rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(at.Offset, "nonsense", "nonsense", "nonsense")))
		rig.Want(t, "code", halted.Code, halt.DeadLetters)
		sink.Revoked(rig.First)
		idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE seq < (SELECT max(seq) FROM idem_ledger)`)
	}
	rig.Want(t, "dead letters", rig.Query(t, db, `SELECT count(*) FROM idem_dead_letter`), "2")
}
