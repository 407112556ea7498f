package idem_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// A partition whose records the client does not hand over makes no progress, although nothing
// fails.
func TestSilentPartitionIsInHealth(t *testing.T) {
	t.Parallel()
	c := rig.Service{}.Consumer(t, rig.Database(t))
	if all := c.Health(); len(all) != 1 || all[0].Code != "not-running" || all[0].Topic != "" || all[0].Partition != -1 || all[0].Do == "" {
		t.Errorf("before it runs: %+v", all)
	}
	src := rig.NewSource(rig.Records(0, "put 1 1"))
	src.Then = func(_ context.Context, sink idem.Sink) {
		sink.Silent(src.Assignment.Partition, time.Now().Add(-time.Minute), "the broker has records, but the client delivers none")
		if err := c.Health().Err(); err == nil || !strings.Contains(err.Error(), "test.v1/0: READY: the broker has records") {
			t.Errorf("while silent: %v", err)
		}
		if p := c.Health()[0]; p.Code != "silent" || p.Topic != "test.v1" || p.Partition != 0 || time.Since(p.Since) < time.Minute || p.Do == "" {
			t.Errorf("while silent: %+v", p)
		}
		sink.Silent(src.Assignment.Partition, time.Time{}, "")
		if err := c.Health().Err(); err != nil {
			t.Errorf("after it: %v", err)
		}
	}
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
}
