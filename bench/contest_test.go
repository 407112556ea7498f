package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/proof/longtest"
)

// What is compared does the same work: every contender leaves the same rows. Where the log holds
// copies, those that check for them still do, and one that does not is found out. Of each log some
// contenders run here, each once: those of the product without an overlay, and others by hand.
func TestContendersLeaveTheSameRows(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	once := []string{"offset", "loop", "payments-offset", "payments-unchecked", "payments-loop-queued"}
	checking := []string{"checked", "payments-checked", "payments-loop-checked-queued", "handler", "handler-queued", "hot", "adds-checked", "effect", "notices"}
	c := smallContest(t, slices.Concat(once, checking))
	c.taking = named(once...)
	c.mustRun(t)
	withoutCopies := c.sums
	c.taking = named(checking...)
	c.withCopies(t, 200)
	c.mustRun(t)
	c.sameSums(t, withoutCopies)
	c.findsOutWhoCountsCopies(t)
}

// Every contender leaves the same rows, also those that an overlay makes of the product.
func TestAllContendersLeaveTheSameRows(t *testing.T) {
	longtest.Skip(t)
	c := smallContest(t, nil)
	c.mustRun(t)
	withoutCopies := c.sums
	c.taking = named("header", "same-partition", "checked", "payments-header", "payments-same-partition", "payments-checked",
		"payments-handler-queued", "payments-loop-checked-queued", "handler", "handler-queued", "loop-checked", "loop-checked-queued", "hot", "adds-checked", "effect", "effect-redis", "notices", "notices-redis")
	c.withCopies(t, 200)
	c.mustRun(t)
	c.sameSums(t, withoutCopies)
	c.findsOutWhoCountsCopies(t)
}

// smallContest is a contest of few records between the contenders of these names; without names,
// between all.
func smallContest(t *testing.T, names []string) *contest {
	t.Helper()
	t.Chdir("..")
	taking := contenders
	if len(names) > 0 {
		taking = named(names...)
	}
	c, err := newContest(t.Context(), size{rounds: 1, readings: 6000, handled: 600}, taking)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// named are the contenders of these names.
func named(names ...string) []contender {
	return slices.DeleteFunc(slices.Clone(contenders), func(c contender) bool { return !slices.Contains(names, c.name) })
}

// mustRun has all contenders run, and looks at what was measured. How many records came behind the
// first batches is chance in a run as short as these.
func (c *contest) mustRun(t *testing.T) {
	t.Helper()
	runs, err := c.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != len(c.taking) {
		t.Errorf("%d of %d contenders ran", len(runs), len(c.taking))
	}
	var database time.Duration // counted in ticks: a short run may take none
	for name, m := range runs {
		if len(m) != 1 || m[0].Seconds <= 0 || m[0].PeakMiB < 1 || m[0].CPU <= 0 {
			t.Errorf("%s: %+v", name, m)
			continue
		}
		database += m[0].DatabaseCPU
	}
	if database <= 0 {
		t.Error("no contender used the database")
	}
}

// sameSums fails if a log left other rows than without copies.
func (c *contest) sameSums(t *testing.T, withoutCopies map[string]string) {
	t.Helper()
	compared := 0
	for log, sum := range c.sums {
		if before, ran := withoutCopies[log]; ran {
			compared++
			if sum != before {
				t.Errorf("copies change what the log %s leaves", log)
			}
		}
	}
	if compared < 2 {
		t.Errorf("%d logs ran with copies and without", compared)
	}
}

func (c *contest) findsOutWhoCountsCopies(t *testing.T) {
	t.Helper()
	c.taking = named("loop")
	if _, err := c.run(t.Context()); err == nil || !strings.Contains(err.Error(), "800 of 600 records took effect") {
		t.Errorf("a contender that counts copies: %v", err)
	}
}

// withCopies replaces the logs by ones whose first records come twice.
func (c *contest) withCopies(t *testing.T, copies int) {
	t.Helper()
	c.broker.Close()
	c.copies, c.sums = copies, map[string]string{}
	if err := c.produce(t.Context()); err != nil {
		t.Fatal(err)
	}
}
