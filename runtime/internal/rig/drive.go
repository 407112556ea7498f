package rig

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Hand is a Source that hands its sink to the test.
type Hand chan idem.Sink

// Run sends the sink.
func (h Hand) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	h <- sink
	<-ctx.Done()
	return nil
}

// First is partition 0 of the topic.
var First = idem.Partition{Topic: Topic}

// Drive runs a consumer whose Source is the test itself.
func Drive(t testing.TB, c *Consumer) idem.Sink {
	t.Helper()
	sink, end := DriveUntil(t, c)
	t.Cleanup(end)
	return sink
}

// DriveUntil is [Drive] for a consumer that ends before the test does.
func DriveUntil(t testing.TB, c *Consumer) (sink idem.Sink, end func()) {
	t.Helper()
	h, done := make(Hand), make(chan error, 1)
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

// Assign assigns partition 0, and wants its position.
func Assign(t testing.TB, sink idem.Sink, next int64) {
	t.Helper()
	at, err := sink.Assigned(t.Context(), NewSource(nil).Assignment)
	if err != nil {
		t.Fatal(err)
	}
	Want(t, "position", at.Offset, next)
}

// Deliver delivers records to partition 0.
func Deliver(t testing.TB, sink idem.Sink, msgs []idem.Message) {
	t.Helper()
	if err := sink.Deliver(t.Context(), First, msgs); err != nil {
		t.Fatal(err)
	}
}

// AtOnce wants that partition 0 may be taken over at once.
func AtOnce(t testing.TB, sink idem.Sink) {
	t.Helper()
	AtOnceFor(t, sink, First)
}

// AtOnceFor is [AtOnce] for another partition.
func AtOnceFor(t testing.TB, sink idem.Sink, p idem.Partition) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // less than two transactions may take
	defer cancel()
	takeOver, err := sink.Standby(ctx, p)
	if err != nil || !takeOver.Now {
		t.Fatalf("the partition is not given back at once: %+v, %v", takeOver, err)
	}
}

// StandsStill waits until a partition may be taken over because its owner does nothing.
func StandsStill(t testing.TB, sink idem.Sink) idem.TakeOver {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	takeOver, err := sink.Standby(ctx, First)
	if err != nil || takeOver.Now {
		t.Fatalf("not within 30 s: the partition may be taken over because its owner does nothing: %+v, %v", takeOver, err)
	}
	return takeOver
}

// AppendRow appends to the chain as an operator's command does.
func AppendRow(t testing.TB, db *pgxpool.Pool, kind, next, info string) {
	t.Helper()
	idemtest.Exec(t, db, AppendRowSQL(kind, next, info))
}

// AppendRowSQL is the statement of [AppendRow].
func AppendRowSQL(kind, next, info string) string {
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
