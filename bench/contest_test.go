package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is compared does the same work: every contender leaves the same rows. Where the log holds
// copies, those that check for them still do, and one that does not is found out.
func TestContendersLeaveTheSameRows(t *testing.T) {
	t.Chdir("..")
	c, err := newContest(t.Context(), size{rounds: 1, readings: 6000, handled: 600}, contenders)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	runs, err := c.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != len(contenders) {
		t.Errorf("%d of %d contenders ran", len(runs), len(contenders))
	}
	var database time.Duration // counted in ticks: a short run may take none
	for name, m := range runs {
		if len(m) != 1 || m[0].speed() <= 0 || m[0].PeakMiB < 1 || m[0].CPU <= 0 {
			t.Errorf("%s: %+v", name, m)
			continue
		}
		database += m[0].DatabaseCPU
	}
	if database <= 0 {
		t.Error("no contender used the database")
	}
	withoutCopies := c.sums
	c.withCopies(t, 200)
	checking := []string{"header", "same-partition", "checked", "handler", "loop-checked", "hot", "adds-checked", "effect", "effect-redis", "notices", "notices-redis"}
	c.taking = slices.DeleteFunc(slices.Clone(contenders), func(c contender) bool { return !slices.Contains(checking, c.name) })
	if _, err := c.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for log, sum := range c.sums {
		if sum != withoutCopies[log] {
			t.Errorf("copies change what the log %s leaves", log)
		}
	}
	c.taking = slices.DeleteFunc(slices.Clone(contenders), func(c contender) bool { return c.name != "loop" })
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

// The programs by hand have libraries of the same versions as the product.
func TestPeersHaveTheProductsVersions(t *testing.T) {
	versions := func(file string) map[string]string {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^\s(\S+) (v\S+)`).FindAllStringSubmatch(string(src), -1) {
			found[m[1]] = m[2]
		}
		return found
	}
	product, own := versions("../go.mod"), versions("peers/go.mod")
	if len(own) < 5 {
		t.Fatalf("peers/go.mod requires %v", own)
	}
	for lib, version := range own {
		if product[lib] != version {
			t.Errorf("bench/peers requires %s %s, the product %s", lib, version, product[lib])
		}
	}
}
