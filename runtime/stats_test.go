package idem_test

import (
	"testing"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
)

// Stats tells of each partition where it stands and what became of its records.
func TestStatsHasEachPartition(t *testing.T) {
	db := database(t)
	c := service{}.consumer(t, db)
	sink := drive(t, c)
	list := twoPartitions(t, sink)
	born := time.Now().Add(-time.Hour)
	msgs := recordsOf(list[1], 1, "k: put 2 2", "k: put 2 2", "k: put 2 3", "put x", "skip 1", "put 3 3")
	for i := range msgs {
		msgs[i].Time = born
	}
	if err := sink.Deliver(t.Context(), list[1], append(recordsOf(list[1], 0, "put 1 1"), msgs...)); err != nil {
		t.Fatal(err)
	}
	sink.End(list[0], 1)
	sink.End(list[1], 3007)
	all := c.Stats().Partitions
	if len(all) != 2 {
		t.Fatalf("%d partitions", len(all))
	}
	want(t, "idle", all[0], idem.PartitionStats{Partition: list[0], State: "READY", Position: 1, End: 1, Applied: 1})
	got := all[1]
	if got.LagTime < 0 || got.LagTime > time.Minute {
		t.Errorf("lag %v of records that were not handed over yet", got.LagTime)
	}
	got.LagTime = 0
	want(t, "busy", got, idem.PartitionStats{
		Partition: list[1], State: "READY", Position: 7, End: 3007, Lag: 3000, Applied: 3, Duplicates: 2, Conflicts: 1, Dead: 1, Ignored: 1,
	})
	sink.Revoked(list[0])
	want(t, "partitions after one was revoked", len(c.Stats().Partitions), 1)
}

// A partition that stands has the age of the record before which it does.
func TestLagOfAPartitionThatStands(t *testing.T) {
	db := database(t)
	c := service{}.consumer(t, db)
	sink := drive(t, c)
	assign(t, sink, 0)
	msgs := records(0, "put 1 1", "stop 1", "put 2 2")
	msgs[1].Time = time.Now().Add(-time.Hour)
	wantError[*idem.HaltedError](t, sink.Deliver(t.Context(), first, msgs))
	sink.End(first, 3001)
	got := c.Stats().Partitions[0]
	if got.LagTime < time.Hour || got.LagTime > time.Hour+time.Minute {
		t.Errorf("lag %v, want an hour", got.LagTime)
	}
	want(t, "state", got.State, "HALTED")
	want(t, "lag", got.Lag, 3000)
}
