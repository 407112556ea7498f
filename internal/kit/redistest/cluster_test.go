package redistest_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/redistest"
)

// A master that is down is replaced by its replica, with what that had heard of.
func TestClusterFailsOver(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	c := redistest.StartCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	before, err := c.MasterOf(ctx, "key")
	if err != nil {
		t.Fatal(err)
	}
	do(t, before, "SET", "key", "value")
	do(t, before, "WAIT", "1", "10000")
	if err := before.Crash(); err != nil {
		t.Fatal(err)
	}
	after, err := c.MasterOf(ctx, "key")
	if err != nil || after == before {
		t.Fatalf("after the crash the master is %v (%v)", after, err)
	}
	want(t, "key", do(t, after, "GET", "key"), "value")
	if err := before.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Whole(ctx); err != nil {
		t.Fatal(err)
	}
	if again, err := c.MasterOf(ctx, "key"); again != after {
		t.Errorf("the one that came back is the master again (%v)", err)
	}
}

func TestSentinelFailsOver(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	s := redistest.StartSentinel(t)
	do(t, s.Server, "SET", "key", "value")
	do(t, s.Server, "WAIT", "1", "10000")
	if err := s.Server.Crash(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := s.Replica.Do(t.Context(), "SET", "key", "another"); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the replica is no master after a minute")
		}
	}
}
