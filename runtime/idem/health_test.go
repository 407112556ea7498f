package idem_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

// A partition whose records the client does not hand over makes no progress, although nothing
// fails.
func TestSilentPartitionIsInHealth(t *testing.T) {
	t.Parallel()
	c := service{}.consumer(t, database(t))
	src := newSource(records(0, "put 1 1"))
	src.then = func(_ context.Context, sink idem.Sink) {
		sink.Silent(src.assignment.Partition, time.Now().Add(-time.Minute), "the broker has records, but the client delivers none")
		if err := c.Health(); err == nil || !strings.Contains(err.Error(), "test.v1/0: READY: the broker has records") {
			t.Errorf("while silent: %v", err)
		}
		sink.Silent(src.assignment.Partition, time.Time{}, "")
		if err := c.Health(); err != nil {
			t.Errorf("after it: %v", err)
		}
	}
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
}
