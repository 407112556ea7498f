package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// idles wants Standby to go on after it has read the chain twice.
func idles(t testing.TB, sink idem.Sink) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reads := 0
	takeOver, err := sink.Standby(fault.With(ctx, func(string) error {
		if reads++; reads == 2 {
			cancel()
		}
		return nil
	}), rig.First)
	switch {
	case err == nil:
		t.Fatalf("a take-over although nobody acted: %+v", takeOver)
	case reads < 2:
		t.Fatalf("Standby read the chain %d times within a minute, want 2: %v", reads, err)
	}
}
