package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// confirm says for one partition, as idemgen stream release --partitions does, that the topic
// may have so many.
func confirm(t testing.TB, db *pgxpool.Pool, partition, parts int32) {
	t.Helper()
	idemtest.Exec(t, db, `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq, info)
SELECT l.stream, seq + 1, gen_random_uuid(), next, next, 'o', 'o', epoch, def, $2, window_seq, 'operator me: confirmed'
FROM idem_ledger l JOIN idem_stream s USING (stream) WHERE s.partition = $1 ORDER BY seq DESC LIMIT 1`, partition, parts)
}

// A partition that is new stands as the old ones do, until all of them are confirmed: records
// of a key whose earlier ones are still to be read there would overtake them.
func TestNewPartitionStandsAsTheOldOnesDo(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*wire.Topic){
		"assume: [ordered]":      func(s *wire.Topic) { s.Ordered = true },
		"copies: same_partition": func(s *wire.Topic) { s.Chain = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			sink := rig.Drive(t, rig.Service{Edit: func(s *wire.Service) {
				edit(&s.Topics[0])
				s.Limits.BatchTimeout = 500 * time.Millisecond // Standby looks often
			}}.Consumer(t, db))
			a := rig.NewSource(nil).Assignment
			for a.Partition.Number = range int32(2) {
				if _, err := sink.Assigned(t.Context(), a); err != nil {
					t.Fatal(err)
				}
			}
			a.Partition.Number = 4
			stands := func(parts int32) {
				t.Helper()
				a.Partitions = parts
				_, err := sink.Assigned(t.Context(), a)
				halted := rig.WantError[*idem.HaltedError](t, err)
				rig.Want(t, "code", halted.Code, halt.PartitionsChanged)
				if !strings.Contains(halted.Reason, "which "+name+" rules out") {
					t.Errorf("the reason is not what the spec says: %s", halted.Reason)
				}
				if strings.Contains(halted.Ways[0].String(), "--partition ") {
					t.Errorf("the command is for a ledger that does not exist: %s", halted.Ways[0].String())
				}
				rig.Want(t, "ledgers", rig.Query(t, db, `SELECT count(*)::text FROM idem_stream`), "2")
			}
			stands(8)
			confirm(t, db, 0, 8)
			rig.AtOnceFor(t, sink, a.Partition)
			stands(8) // partition 1 is not confirmed
			confirm(t, db, 1, 8)
			rig.AtOnceFor(t, sink, a.Partition)
			stands(12) // there are more again
			confirm(t, db, 0, 12)
			confirm(t, db, 1, 12)
			rig.AtOnceFor(t, sink, a.Partition)
			at, err := sink.Assigned(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			rig.Want(t, "position", at.Offset, 0)
		})
	}
}

// Nothing moves by more partitions for a spec that relies on no order.
func TestNewPartitionBeginsWhereNothingReliesOnOrder(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	a := rig.NewSource(nil).Assignment
	a.Partition.Number, a.Partitions = 4, 8
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

// start_from: latest holds for every partition that is there when the first one begins. One
// that was added then starts at the earliest record, and so does one whose
// age nobody can tell.
func TestLatestHoldsForAllPartitionsButAddedOnes(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].StartFrom = wire.Latest }}.Consumer(t, db)
	for _, step := range []struct {
		number, partitions int32
		start              int64
		before             string
	}{
		{0, 4, 100, ""},
		{1, 4, 100, ""},
		{4, 6, 7, ""},
		{3, 6, 100, ""}, // it was there, although it begins late
		{5, 6, 7, ""},
		{2, 6, 100, `DELETE FROM idem_ledger WHERE seq = 0`}, // as the upkeep does
	} {
		if step.before != "" {
			idemtest.Exec(t, db, step.before)
		}
		src := rig.NewSource(nil)
		src.Assignment.Partition.Number, src.Assignment.Partitions = step.number, step.partitions
		src.Assignment.Low, src.Assignment.High = 7, 100
		if err := src.Consume(t, c); err != nil {
			t.Fatal(err)
		}
		rig.Want(t, fmt.Sprintf("partition %d of %d begins at", step.number, step.partitions), src.Position.Offset, step.start)
	}
}
