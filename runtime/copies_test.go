package idem_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
)

// Nothing but the producer keeps copies of copies: same_partition in one partition. Where it
// does not, the copy takes effect, and that is told: in the log, by Health and by Stats.
func TestCopyInAnotherPartitionIsAnAlarm(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	db := database(t)
	c := inChain(time.Hour, idem.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))).consumer(t, db)
	deliver := func(partition int32, texts ...string) idem.Result {
		t.Helper()
		w, err := c.Own(t.Context(), topic, partition, 0)
		if err != nil {
			t.Fatal(err)
		}
		msgs := records(w.Next(), texts...)
		for i := range msgs {
			msgs[i].Partition = partition
		}
		return apply(t, w, msgs)
	}
	audit := func(want int64) {
		t.Helper()
		for range 2 {
			if err := c.Upkeep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		told := int64(strings.Count(log.String(), "keys are in two partitions"))
		health := strings.Contains(c.Health().Error(), topic+": a key is in partition 0 (row 2 of its ledger, offsets 0 to 1) and in partition 1 (row 4, offsets 1 to 1)")
		if got := c.Stats().KeysInTwoPartitions; got != want || told != want || health != (want > 0) {
			t.Errorf("%d keys are counted, want %d; %d lines; Health says\n%v", got, want, told, c.Health())
		}
	}
	deliver(0, "@a: put 1 10", "@b: put 2 20")
	deliver(1, "@c: put 3 30")
	want(t, "copy in the same partition", deliver(0, "@a: put 1 10"), idem.Result{Duplicates: 1})
	audit(0)
	want(t, "copy in another partition", deliver(1, "@a: put 1 10"), idem.Result{Applied: 1})
	audit(1)
}
