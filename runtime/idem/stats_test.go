package idem_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Stats tells of each partition where it stands and what became of its records.
func TestStatsHasEachPartition(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	sink := rig.Drive(t, c)
	list := rig.TwoPartitions(t, sink)
	born := time.Now().Add(-time.Hour)
	msgs := rig.RecordsOf(list[1], 1, "k: put 2 2", "k: put 2 2", "k: put 2 3", "put x", "skip 1", "put 3 3")
	for i := range msgs {
		msgs[i].Time = born
	}
	if err := sink.Deliver(t.Context(), list[1], append(rig.RecordsOf(list[1], 0, "put 1 1"), msgs...)); err != nil {
		t.Fatal(err)
	}
	sink.End(list[0], 1, time.Time{})
	sink.End(list[1], 3007, time.Time{})
	all := c.Stats().Partitions
	if len(all) != 2 {
		t.Fatalf("%d partitions", len(all))
	}
	rig.Want(t, "idle", all[0], idem.PartitionStats{Partition: list[0], State: "READY", Position: 1, End: 1, Applied: 1})
	got := all[1]
	if got.LagTime < 0 || got.LagTime > time.Minute {
		t.Errorf("lag %v of records that were not handed over yet", got.LagTime)
	}
	got.LagTime = 0
	rig.Want(t, "busy", got, idem.PartitionStats{
		Partition: list[1], State: "READY", Position: 7, End: 3007, Lag: 3000, Applied: 3, Duplicates: 2, Conflicts: 1, Dead: 1, Ignored: 1,
	})
	sink.Revoked(list[0])
	rig.Want(t, "partitions after one was revoked", len(c.Stats().Partitions), 1)
}

// A partition that stands has the age of the record before which it does.
func TestLagOfAPartitionThatStands(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	msgs := rig.Records(0, "put 1 1", "stop 1", "put 2 2")
	msgs[1].Time = time.Now().Add(-time.Hour)
	rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, msgs))
	sink.End(rig.First, 3001, time.Time{})
	got := c.Stats().Partitions[0]
	if got.LagTime < time.Hour || got.LagTime > time.Hour+time.Minute {
		t.Errorf("lag %v, want an hour", got.LagTime)
	}
	rig.Want(t, "state", got.State, "HALTED")
	rig.Want(t, "lag", got.Lag, 3000)
	if text := c.Health().Err().Error(); !strings.Contains(text, "test.v1/0: HALTED before offset 1: ") || strings.Count(text, "test.v1/0: ") != 1 {
		t.Errorf("Health says it twice: %s", text)
	}
	halted, _ := errors.AsType[*idem.HaltedError](c.Health().Err())
	problems := c.Health()
	p := problems[len(problems)-1] // behind that of the service, which does not run
	if p.Code != string(halted.Code) || p.Topic != "test.v1" || p.Partition != 0 || p.Do != halted.Ways[0].String() || p.Reason != halted.Reason || time.Since(p.Since) > time.Minute {
		t.Errorf("a halted partition is %+v", p)
	}
}

// The lag of a partition that stands grows, also where nobody can say how many records wait.
func TestLagTimeGrowsForEveryPartitionThatStands(t *testing.T) {
	t.Parallel()
	remade := func(a *idem.Assignment) { a.TopicID, a.High = idem.UUID{9}, 1 }
	for name, c := range map[string]struct {
		position int64
		change   func(*idem.Assignment)
		known    bool // that nothing waits
	}{
		"topic-recreated":        {1, remade, false},
		"topic-recreated, empty": {1, func(a *idem.Assignment) { remade(a); a.Low = 1 }, true},
		"ledger-missing":         {-1, func(a *idem.Assignment) { a.Partition.Number, a.Committed = 1, rig.CommittedAt(0) }, false},
		"partitions-changed":     {-1, func(a *idem.Assignment) { a.Partition.Number, a.Partitions = 4, 5 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c0 := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].Ordered = true }}.Consumer(t, rig.Database(t))
			sink := rig.Drive(t, c0)
			rig.Assign(t, sink, 0)
			rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
			a := rig.NewSource(nil).Assignment
			c.change(&a)
			_, err := sink.Assigned(t.Context(), a)
			if halted := rig.WantError[*idem.HaltedError](t, err); !strings.HasPrefix(name, string(halted.Code)) {
				t.Fatal(halted)
			}
			time.Sleep(20 * time.Millisecond)
			all := c0.Stats().Partitions
			got := all[len(all)-1]
			rig.Want(t, "partition", got.Partition, a.Partition)
			rig.Want(t, "state", got.State, "HALTED")
			rig.Want(t, "position", got.Position, c.position)
			rig.Want(t, "lag", got.Lag, -1)
			if grows := got.LagTime >= 20*time.Millisecond; grows == c.known {
				t.Errorf("the lag is %v", got.LagTime)
			}
		})
	}
}
