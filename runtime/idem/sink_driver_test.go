package idem_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// hand is a Source that hands its sink to the test.
type hand chan idem.Sink

func (h hand) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	h <- sink
	<-ctx.Done()
	return nil
}

var first = idem.Partition{Topic: topic}

// drive runs a consumer whose Source is the test itself.
func drive(t testing.TB, c *idem.Consumer) idem.Sink {
	t.Helper()
	sink, end := driveUntil(t, c)
	t.Cleanup(end)
	return sink
}

// driveUntil is drive for a consumer that ends before the test does.
func driveUntil(t testing.TB, c *idem.Consumer) (sink idem.Sink, end func()) {
	t.Helper()
	h, done := make(hand), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- c.Run(ctx, h) }()
	end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	select {
	case sink := <-h:
		return sink, end
	case err := <-done:
		cancel()
		t.Fatal(err)
		return nil, nil
	}
}

func assign(t testing.TB, sink idem.Sink, next int64) {
	t.Helper()
	at, err := sink.Assigned(t.Context(), newSource(nil).assignment)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "position", at.Offset, next)
}

func deliver(t testing.TB, sink idem.Sink, msgs []idem.Message) {
	t.Helper()
	if err := sink.Deliver(t.Context(), first, msgs); err != nil {
		t.Fatal(err)
	}
}

// now is for a partition that may be taken over at once.
func now(t testing.TB, sink idem.Sink) {
	t.Helper()
	nowFor(t, sink, first)
}

func nowFor(t testing.TB, sink idem.Sink, p idem.Partition) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // less than two transactions may take
	defer cancel()
	takeOver, err := sink.Standby(ctx, p)
	if err != nil || !takeOver.Now {
		t.Fatalf("the partition is not given back at once: %+v, %v", takeOver, err)
	}
}

// standsStill waits until a partition may be taken over because its owner does nothing.
func standsStill(t testing.TB, sink idem.Sink) idem.TakeOver {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	takeOver, err := sink.Standby(ctx, first)
	if err != nil || takeOver.Now {
		t.Fatalf("not within 30 s: the partition may be taken over because its owner does nothing: %+v, %v", takeOver, err)
	}
	return takeOver
}

// appendRow appends to the chain as an operator's command does.
func appendRow(t testing.TB, db *pgxpool.Pool, kind, next, info string) {
	t.Helper()
	idemtest.Exec(t, db, appendRowSQL(kind, next, info))
}

func appendRowSQL(kind, next, info string) string {
	writer := "w"
	switch {
	case strings.HasPrefix(info, "operator "):
		writer = "o"
	case strings.HasPrefix(info, "handed back by "):
		writer = "h"
	}
	return fmt.Sprintf(`INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq, info)
SELECT stream, seq + 1, gen_random_uuid(), next, %s, '%s', '%s', epoch, def, parts, window_seq, '%s' FROM idem_ledger ORDER BY seq DESC LIMIT 1`, next, kind, writer, info)
}

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
	}), first)
	switch {
	case err == nil:
		t.Fatalf("a take-over although nobody acted: %+v", takeOver)
	case reads < 2:
		t.Fatalf("Standby read the chain %d times within a minute, want 2: %v", reads, err)
	}
}
