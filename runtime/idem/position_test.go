package idem_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

// idleAt tells that the first partition is idle, and was read to end.
func idleAt(t testing.TB, sink idem.Sink, end int64) error {
	t.Helper()
	return sink.Idle(t.Context(), first, end)
}

const positionSQL = `SELECT string_agg(kind::text || next, ' ' ORDER BY seq) FROM idem_ledger`

// The position follows the log over what holds no records, once.
func TestPositionFollowsTheLogOverMarkers(t *testing.T) {
	t.Parallel()
	db := database(t)
	sink := drive(t, service{}.consumer(t, db))
	assign(t, sink, 0)
	deliver(t, sink, records(0, "put 1 1"))
	for _, end := range []int64{-1, 0, 1, 3, 3, 2} {
		if err := idleAt(t, sink, end); err != nil {
			t.Fatalf("idle at %d: %v", end, err)
		}
	}
	want(t, "hint", sink.Durable(first).Offset, 3)
	deliver(t, sink, records(3, "put 2 2"))
	want(t, "the chain", query(t, db, positionSQL), "g0 f0 b1 b3 b4")
	want(t, "rows", table(t, db), "1=1 2=2")
}

// A passing row whose reply is lost stands or does not: the position is right in both cases,
// and what comes then is applied once.
func TestPassingInDoubt(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*line{
		"it stands":         {sent: []byte("_append\x00"), reply: true},
		"it was never sent": {sent: []byte("_append\x00"), early: true},
	} {
		for _, then := range []string{"idle", "a record"} {
			t.Run(name+", then "+then, func(t *testing.T) {
				db := database(t)
				c := service{}.consumer(t, l.through(t, db))
				sink := drive(t, c)
				assign(t, sink, 0)
				deliver(t, sink, records(0, "add 1 1"))
				l.armed.Store(true)
				if err := idleAt(t, sink, 3); err != nil {
					t.Fatal(err)
				}
				if l.armed.Load() {
					t.Fatal("the line was not cut")
				}
				if err := c.Health().Err(); err == nil || !strings.Contains(err.Error(), "the line was cut") {
					t.Errorf("health in doubt: %v", err)
				}
				if then == "idle" {
					if err := idleAt(t, sink, 3); err != nil {
						t.Fatal(err)
					}
					want(t, "position", query(t, db, `SELECT max(next) FROM idem_ledger`), "3")
				} else {
					deliver(t, sink, records(3, "add 2 2"))
					want(t, "position", query(t, db, `SELECT max(next) FROM idem_ledger`), "4")
					want(t, "rows", table(t, db), "1=1 2=2")
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
	db := database(t)
	sink := drive(t, service{}.consumer(t, db))
	assign(t, sink, 0)
	appendRow(t, db, "f", "next", "another process")
	wantError[*idem.FencedError](t, idleAt(t, sink, 3))
	want(t, "position", query(t, db, `SELECT max(next) FROM idem_ledger`), "0")
}

// A database that will not take the row is for a person; one that is away is not.
func TestPassingThatIsRefusedHalts(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	sink := drive(t, c)
	assign(t, sink, 0)
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeSend {
			return errCut
		}
		return nil
	})
	if err := sink.Idle(ctx, first, 3); err != nil {
		t.Fatal(err)
	}
	idemtest.Exec(t, db, `ALTER TABLE idem_ledger RENAME COLUMN info TO later`)
	halted := wantError[*idem.HaltedError](t, idleAt(t, sink, 3))
	want(t, "offset", halted.Offset, -1)
}

// A deployment that fails every record, and is restarted after each: the count of dead
// letters in a row outlives that, whatever stands between the records.
func TestCrashLoopOverMarkersHalts(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := service{policy: wire.FailurePolicy{StopAfter: 3, Keep: time.Hour}}
	for offset := int64(0); offset < 20; offset += 2 {
		sink := drive(t, s.consumer(t, db))
		assign(t, sink, offset)
		err := sink.Deliver(t.Context(), first, records(offset, "nonsense"))
		if offset == 6 {
			want(t, "code", wantError[*idem.HaltedError](t, err).Code, halt.DeadLetters)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := idleAt(t, sink, offset+2); err != nil {
			t.Fatal(err)
		}
		sink.Revoked(first)
	}
}

// A partition that stands gets nothing but fences, and what is older is removed: the count is
// not.
func TestDeadLettersInARowOutliveTheirRows(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := service{policy: wire.FailurePolicy{StopAfter: 2, Keep: time.Hour}}
	for range 3 {
		sink := drive(t, s.consumer(t, db))
		at, err := sink.Assigned(t.Context(), newSource(nil).assignment)
		if err != nil {
			t.Fatal(err)
		}
		halted := wantError[*idem.HaltedError](t, sink.Deliver(t.Context(), first, records(at.Offset, "nonsense", "nonsense", "nonsense")))
		want(t, "code", halted.Code, halt.DeadLetters)
		sink.Revoked(first)
		idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE seq < (SELECT max(seq) FROM idem_ledger)`)
	}
	want(t, "dead letters", query(t, db, `SELECT count(*) FROM idem_dead_letter`), "2")
}
