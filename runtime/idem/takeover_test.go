package idem_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// More partitions move keys: whoever relies on where they are, stands until a person says
// that it is right. All others note the new number and go on.
func TestMorePartitions(t *testing.T) {
	lengthy(t)
	for name, test := range map[string]struct {
		edit  func(*wire.Topic)
		halts bool
	}{
		"nothing relies on it":   {edit: func(*wire.Topic) {}},
		"assume: [ordered]":      {edit: func(s *wire.Topic) { s.Ordered = true }, halts: true},
		"copies: same_partition": {edit: func(s *wire.Topic) { s.Chain = time.Hour }, halts: true},
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			sink := drive(t, service{edit: func(s *wire.Service) { test.edit(&s.Topics[0]) }}.consumer(t, db))
			assign(t, sink, 0)
			sink.Revoked(first)
			a := newSource(nil).assignment
			a.Partitions = 8
			_, err := sink.Assigned(t.Context(), a)
			if test.halts {
				want(t, "code", wantError[*idem.HaltedError](t, err).Code, halt.PartitionsChanged)
				appendRow(t, db, "f", "next", "operator me: confirmed")
				want(t, "noted", query(t, db, `WITH u AS (UPDATE idem_ledger SET parts = 8 WHERE seq = 2 RETURNING 1) SELECT count(*)::text FROM u`), "1")
				now(t, sink)
				_, err = sink.Assigned(t.Context(), a)
			}
			if err != nil {
				t.Fatal(err)
			}
			want(t, "partitions in the ledger", query(t, db, `SELECT parts::text FROM idem_ledger ORDER BY seq DESC LIMIT 1`), "8")
		})
	}
}

// A topic that is made again while it is read is another stream: the Source asks again, and
// the worker stands, with the command that adopts it.
func TestTopicMadeAgainWhileItIsRead(t *testing.T) {
	t.Parallel()
	db := database(t)
	sink := drive(t, service{}.consumer(t, db))
	assign(t, sink, 0)
	deliver(t, sink, records(0, "put 1 1"))
	a := newSource(nil).assignment
	a.TopicID = idem.UUID{9}
	_, err := sink.Assigned(t.Context(), a)
	want(t, "code", wantError[*idem.HaltedError](t, err).Code, halt.TopicRecreated)
	wantError[*idem.FencedError](t, sink.Deliver(t.Context(), first, records(1, "put 2 2")))
	want(t, "rows", table(t, db), "1=1")
}

// A partition that is new to a topic already read starts at its first record, whatever
// start_from says: all of it is new. Bug: there is a ledger before the first
// record is accepted.
func TestNewPartitionOfAReadTopicStartsAtItsFirstRecord(t *testing.T) {
	t.Parallel()
	db := database(t)
	sink := drive(t, service{edit: func(s *wire.Service) { s.Topics[0].StartFrom = wire.Latest }}.consumer(t, db))
	assign(t, sink, 1000)
	a := newSource(nil).assignment
	a.Partition.Number, a.Partitions, a.Low, a.High = 4, 5, 3, 20
	at, err := sink.Assigned(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "position", at.Offset, 3)
	want(t, "ledger rows", query(t, db, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'g'`), "2")
}

// A version halts where another wrote under an identity of the events that it does not know,
// and only there: it would not recognise what that one applied. Where nobody has written, or
// an operator says that it may, any version goes on.
func TestVersionHaltsBehindAnIdentityThatItDoesNotKnow(t *testing.T) {
	lengthy(t)
	version := func(writes uint32, knows ...uint32) service {
		return service{edit: func(s *wire.Service) { s.Identity = wire.Identity{Writes: writes, Knows: append(knows, writes)} }}
	}
	old, moved, branch := version(1), version(0xfffffff2, 1), version(3, 1)
	for _, c := range []struct {
		name          string
		first, second service
		halts         bool
	}{
		{"the same", old, old, false},
		{"a newer one", old, moved, false},
		{"back from it", moved, old, true},
		{"two branches", moved, branch, true},
		{"the same two the other way", branch, moved, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := database(t)
			own(t, c.first.consumer(t, db))
			_, err := c.second.consumer(t, db).Own(t.Context(), topic, 0, 0)
			if !c.halts {
				if err != nil {
					t.Error(err)
				}
				return
			}
			halted := wantError[*idem.HaltedError](t, err)
			want(t, "code", halted.Code, halt.NewerVersion)
			if !strings.Contains(halted.Error(), "another version of this service ran here") {
				t.Error(halted)
			}
			idemtest.Exec(t, db, `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq, info)
SELECT stream, seq + 1, gen_random_uuid(), next, next, 'o', 'o', epoch, 0, parts, window_seq, 'operator ann: back' FROM idem_ledger ORDER BY seq DESC LIMIT 1`)
			own(t, c.second.consumer(t, db))
		})
	}
}

// Retention that ends exactly at the position took nothing; one record more is a loss.
func TestRetentionUpToThePositionIsNoLoss(t *testing.T) {
	t.Parallel()
	db := database(t)
	sink := drive(t, service{}.consumer(t, db))
	assign(t, sink, 0)
	deliver(t, sink, records(0, "put 1 1", "put 2 2"))
	sink.Revoked(first)
	a := newSource(nil).assignment
	a.Low, a.High = 2, 2
	at, err := sink.Assigned(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "position", at.Offset, 2)
	sink.Revoked(first)
	a.Low, a.High = 3, 3
	_, err = sink.Assigned(t.Context(), a)
	want(t, "code", wantError[*idem.HaltedError](t, err).Code, halt.RetentionPassed)
}
