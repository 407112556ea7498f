package rig

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

// InChain is a service whose keys are remembered by the chain for that long.
func InChain(window time.Duration, options ...idem.Option) Service {
	return Service{Options: options, Edit: func(s *wire.Service) { s.Topics[0].Window, s.Topics[0].Chain = 0, window }}
}

// Rotate seals the open generation as if half a window had passed.
func Rotate(t testing.TB, db *pgxpool.Pool, c *Consumer) {
	t.Helper()
	idemtest.Exec(t, db, `UPDATE idem_key_gen SET opened_at = opened_at - interval '31 minutes' WHERE sealed_at IS NULL`)
	const sealed = `SELECT count(sealed_at)::text FROM idem_key_gen`
	before := Query(t, db, sealed)
	for end := time.Now().Add(Soon); Query(t, db, sealed) == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the open generation was not sealed")
		}
		// It does nothing while the connection of an earlier run is still on its way out.
		if err := c.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// OwnPartition takes over a partition.
func OwnPartition(t testing.TB, c *Consumer, partition int32) *Writer {
	t.Helper()
	w, err := c.Own(t.Context(), Topic, partition, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Logged returns an option that logs into the buffer.
func Logged() (*transcript.Buffer, idem.Option) {
	b := &transcript.Buffer{}
	return b, idem.WithLogger(slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// Await waits until the log has a line with the text n times.
func Await(t testing.TB, log *transcript.Buffer, text string, n int) {
	t.Helper()
	for end := time.Now().Add(Soon); strings.Count(log.String(), text) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log does not say %q %d times:\n%s", text, n, log)
		}
	}
}

// Once runs do when the step is first reached, and then goes on.
func Once(ctx context.Context, step string, do func()) context.Context {
	done := false
	return fault.With(ctx, func(at string) error {
		if at == step && !done {
			done = true
			do()
		}
		return nil
	})
}
