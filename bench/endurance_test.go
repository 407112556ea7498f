package main

import (
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/proof/longtest"
)

// A log that is produced while it is consumed, and dropped behind the consumer, is consumed whole.
func TestLongRunIsWatched(t *testing.T) {
	longtest.Skip(t)
	t.Chdir("..")
	e, err := endure(t.Context(), 8*time.Second, 20_000) // the group commits every five seconds
	if err != nil {
		t.Fatal(err)
	}
	if len(e.resident) != looks || slices.Min(e.resident) < 1 || e.peak < slices.Max(e.resident) {
		t.Errorf("resident %v, peak %v", e.resident, e.peak)
	}
	if e.goroutines < partitions || e.records <= 20_000 {
		t.Errorf("%d goroutines, %d records", e.goroutines, e.records)
	}
}
