package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// lookAt tells that the first partition is idle.
func lookAt(t testing.TB, sink idem.Sink) error {
	t.Helper()
	return sink.Idle(t.Context(), rig.First, -1)
}

// lookUntilFenced looks again where a look found no answer within a short batch_timeout, which is
// no error.
func lookUntilFenced(t testing.TB, sink idem.Sink) error {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < 30*time.Second; {
		if err := lookAt(t, sink); err != nil {
			return err
		}
	}
	return nil
}

// What happens to the chain of an idle partition is learned without a record.
func TestIdlePartitionLearnsWhatBecameOfItsChain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(t testing.TB, db *pgxpool.Pool)
		next    int64 // -1: another owner is at work
		foreign int64
	}{
		"an operator rewound it": {change: func(t testing.TB, db *pgxpool.Pool) {
			rig.AppendRow(t, db, "r", "next - 1", "operator me: again")
		}, next: 1},
		"its last row is gone": {change: func(t testing.TB, db *pgxpool.Pool) {
			idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE next = 2; DELETE FROM t WHERE id = 2; DELETE FROM idem_keys WHERE seq = 3`)
		}, next: 1},
		"its last row is gone, and another stands there": {change: func(t testing.TB, db *pgxpool.Pool) {
			idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE next = 2; DELETE FROM t WHERE id = 2`)
			rig.AppendRow(t, db, "f", "next", "another process")
			rig.AppendRow(t, db, "f", "next", "another process")
		}, next: 1},
		"another fenced it": {change: func(t testing.TB, db *pgxpool.Pool) {
			rig.AppendRow(t, db, "f", "next", "another process")
		}, next: -1, foreign: 1},
		"another went far ahead": {change: func(t testing.TB, db *pgxpool.Pool) {
			rig.AppendRow(t, db, "f", "next", "another process")
			rig.AppendRow(t, db, "b", "next + 1", "")
			idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE next < 3`)
		}, next: -1},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			c := rig.Service{}.Consumer(t, db)
			sink := rig.Drive(t, c)
			rig.Assign(t, sink, 0)
			rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
			rig.Deliver(t, sink, rig.Records(1, "put 2 2"))
			if err := lookAt(t, sink); err != nil {
				t.Fatal(err)
			}
			test.change(t, db)
			rig.WantError[*idem.FencedError](t, lookAt(t, sink))
			rig.Want(t, "foreign fences", c.Stats().ForeignFences, test.foreign)
			rig.WantError[*idem.FencedError](t, lookAt(t, sink)) // it must be taken over first
			if test.next < 0 {
				if err := c.Health().Err(); err == nil || !strings.Contains(err.Error(), "STANDBY") {
					t.Errorf("health: %v", err)
				}
				return
			}
			rig.AtOnce(t, sink)
			rig.Assign(t, sink, test.next)
		})
	}
}

// A check that the database refuses is no reason to stand, or to wait when a record comes;
// people hear of it.
func TestFailedLookIsToldAndNoMore(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	idemtest.Exec(t, db, `ALTER TABLE idem_ledger RENAME COLUMN written_at TO later`)
	if err := lookAt(t, sink); err != nil {
		t.Fatal(err)
	}
	if err := c.Health().Err(); err == nil || !strings.Contains(err.Error(), "RETRYING: ") {
		t.Errorf("health: %v", err)
	}
	idemtest.Exec(t, db, `ALTER TABLE idem_ledger RENAME COLUMN later TO written_at`)
	if err := lookAt(t, sink); err != nil {
		t.Fatal(err)
	}
	if err := c.Health().Err(); err != nil {
		t.Errorf("health: %v", err)
	}
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
}

// Who waits for a record before it takes a partition over learns of an operator meanwhile.
func TestOperatorEndsTheWaitForARecord(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{Edit: func(s *wire.Service) { s.Limits.BatchTimeout = 500 * time.Millisecond }}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
	rig.AppendRow(t, db, "f", "next", "another process")
	rig.WantError[*idem.FencedError](t, lookUntilFenced(t, sink))
	rig.StandsStill(t, sink)
	if err := lookAt(t, sink); err != nil {
		t.Fatal(err)
	}
	rig.AppendRow(t, db, "r", "next - 1", "operator me: again")
	rig.WantError[*idem.FencedError](t, lookUntilFenced(t, sink))
	rig.AtOnce(t, sink)
	rig.Assign(t, sink, 0)
}

// A process that owns only partitions without records records how far they were read, by the times
// of records that others read: else their keys would be kept for ever.
func TestPartitionWithoutRecordsIsRead(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	rig.Apply(t, rig.OwnPartition(t, rig.Service{}.Consumer(t, db), 1), rig.Records(0, "a: put 1 1"))
	idemtest.Exec(t, db, `UPDATE idem_stream SET seen_at = date_trunc('minute', now() - interval '1 minute')`)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	sink.End(rig.First, 0, time.Now())
	if err := sink.Idle(t.Context(), rig.First, -1); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "times", rig.Query(t, db, `SELECT count(DISTINCT seen_at) || ' ' || count(seen_at) FROM idem_stream`), "1 2")
}
