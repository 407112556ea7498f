package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// More partitions move keys: whoever relies on where they are, stands until a person says
// that it is right. All others note the new number and go on.
func TestMorePartitions(t *testing.T) {
	rig.Lengthy(t)
	for name, test := range map[string]struct {
		edit  func(*wire.Topic)
		halts bool
	}{
		"nothing relies on it":   {edit: func(*wire.Topic) {}},
		"assume: [ordered]":      {edit: func(s *wire.Topic) { s.Ordered = true }, halts: true},
		"copies: same_partition": {edit: func(s *wire.Topic) { s.Chain = time.Hour }, halts: true},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			sink := rig.Drive(t, rig.Service{Edit: func(s *wire.Service) { test.edit(&s.Topics[0]) }}.Consumer(t, db))
			rig.Assign(t, sink, 0)
			sink.Revoked(rig.First)
			a := rig.NewSource(nil).Assignment
			a.Partitions = 8
			_, err := sink.Assigned(t.Context(), a)
			if test.halts {
				rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.PartitionsChanged)
				rig.AppendRow(t, db, "f", "next", "operator me: confirmed")
				rig.Want(t, "noted", rig.Query(t, db, `WITH u AS (UPDATE idem_ledger SET parts = 8 WHERE seq = 2 RETURNING 1) SELECT count(*)::text FROM u`), "1")
				rig.AtOnce(t, sink)
				_, err = sink.Assigned(t.Context(), a)
			}
			if err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "partitions in the ledger", rig.Query(t, db, `SELECT parts::text FROM idem_ledger ORDER BY seq DESC LIMIT 1`), "8")
		})
	}
}

// A topic that is made again while it is read is another stream: the Source asks again, and
// the worker stands, with the command that adopts it.
func TestTopicMadeAgainWhileItIsRead(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
	a := rig.NewSource(nil).Assignment
	a.TopicID = idem.UUID{9}
	_, err := sink.Assigned(t.Context(), a)
	rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.TopicRecreated)
	rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(1, "put 2 2")))
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
}

// A partition that is new to a topic already read starts at its first record, whatever
// start_from says: all of it is new. Bug: there is a ledger before the first
// record is accepted.
func TestNewPartitionOfAReadTopicStartsAtItsFirstRecord(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{Edit: func(s *wire.Service) { s.Topics[0].StartFrom = wire.Latest }}.Consumer(t, db))
	rig.Assign(t, sink, 1000)
	a := rig.NewSource(nil).Assignment
	a.Partition.Number, a.Partitions, a.Low, a.High = 4, 5, 3, 20
	at, err := sink.Assigned(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "position", at.Offset, 3)
	rig.Want(t, "ledger rows", rig.Query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'g'`), "2")
}

// A version halts where another wrote under an identity of the events that it does not know,
// and only there: it would not recognize what that one applied. Where nobody has written, or
// an operator says that it may, any version goes on.
func TestVersionHaltsBehindAnIdentityThatItDoesNotKnow(t *testing.T) {
	rig.Lengthy(t)
	version := func(writes uint32, knows ...uint32) rig.Service {
		return rig.Service{Edit: func(s *wire.Service) { s.Identity = wire.Identity{Writes: writes, Knows: append(knows, writes)} }}
	}
	old, moved, branch := version(1), version(0xfffffff2, 1), version(3, 1)
	for _, c := range []struct {
		name          string
		first, second rig.Service
		halts         bool
	}{
		{"the same", old, old, false},
		{"a newer one", old, moved, false},
		{"back from it", moved, old, true},
		{"two branches", moved, branch, true},
		{"the same two the other way", branch, moved, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := rig.Database(t)
			rig.Own(t, c.first.Consumer(t, db))
			_, err := c.second.Consumer(t, db).Own(t.Context(), rig.Topic, 0, 0)
			if !c.halts {
				if err != nil {
					t.Error(err)
				}
				return
			}
			halted := rig.WantError[*idem.HaltedError](t, err)
			rig.Want(t, "code", halted.Code, halt.NewerVersion)
			if !strings.Contains(halted.Error(), "another version of this service ran here") {
				t.Error(halted)
			}
			idemtest.Exec(t, db, `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq, info)
SELECT stream, seq + 1, gen_random_uuid(), next, next, 'o', 'o', epoch, 0, parts, window_seq, 'operator ann: back' FROM idem_ledger ORDER BY seq DESC LIMIT 1`)
			rig.Own(t, c.second.Consumer(t, db))
		})
	}
}

// Retention that ends exactly at the position took nothing; one record more is a loss.
func TestRetentionUpToThePositionIsNoLoss(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1", "put 2 2"))
	sink.Revoked(rig.First)
	a := rig.NewSource(nil).Assignment
	a.Low, a.High = 2, 2
	at, err := sink.Assigned(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "position", at.Offset, 2)
	sink.Revoked(rig.First)
	a.Low, a.High = 3, 3
	_, err = sink.Assigned(t.Context(), a)
	rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.RetentionPassed)
}
