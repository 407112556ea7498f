package effect

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// What has a lease in Postgres goes on there, and everything else is outside: behind a switch of
// the spec, and behind an outage.
func TestALeaseInPostgresStaysThere(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &soon, answer("Postgres")), effectOf(1, "", &outside, answer("outside"))})
	want(t, "External", b.result(0).External, false)
	want(t, "External", b.result(1).External, true)
	b.desk.Again()
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &outside, answer("again")), effectOf(1, "", &outside, answer("again"))})
	r := b.result(0)
	want(t, "result", string(r.Result), "Postgres")
	want(t, "External", r.External, false)
	want(t, "result", string(b.result(1).Result), "outside")
}

// With if_store_down: use_postgres the store is waited for as long as a lease lasts. Then Postgres
// takes its place, at once and without asking the store for each, and keeps what it took.
func TestPostgresInPlaceOfTheStore(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	b.external.set(errDown, nil)
	begun := time.Now()
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &orInPostgres, answer("r"))})
	want(t, "External", b.result(0).External, false)
	if took := time.Since(begun); took < orInPostgres.Lease {
		t.Errorf("Postgres took its place after %v", took)
	}
	hang := make(chan struct{})
	b.external.set(nil, hang)
	var more []wire.Effect
	for offset := range int64(20) {
		more = append(more, effectOf(1+offset, "", &orInPostgres, answer("r")))
	}
	asked := b.external.questions()
	b.desk.Start(t.Context(), more)
	for offset := range int64(20) {
		b.result(1 + offset)
	}
	want(t, "questions to a store that was down a moment ago", b.external.questions()-asked, 0)
	close(hang)
	b.external.set(nil, nil)
	b.rested()
	b.desk.Start(t.Context(), []wire.Effect{effectOf(30, "", &orInPostgres, answer("r"))})
	want(t, "External, when the store is back", b.result(30).External, true)
	b.desk.Again()
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &orInPostgres, answer("again"))})
	want(t, "what Postgres took", string(b.result(0).Result), "r")
}

// A call that was under way when the store went down is not made again if it ends well: its answer
// is recorded in Postgres.
func TestAnAnswerIsRecordedInPlaceOfTheStore(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	var calls atomic.Int32
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &orInPostgres, func(context.Context) ([]byte, error) {
		b.external.set(errDown, nil)
		return fmt.Append(nil, calls.Add(1)), nil
	})})
	r := b.result(0)
	want(t, "result", string(r.Result), "1")
	want(t, "External", r.External, false)
	want(t, "state in Postgres", b.postgres.States(consumer)[keyOf(0)], lease.Done)
	b.desk.Again()
	b.external.set(nil, nil)
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &orInPostgres, answer("again"))})
	want(t, "result", string(b.result(0).Result), "1")
	want(t, "calls", calls.Load(), 1)
}

// Where Postgres has an answer of the key by then, that one counts.
func TestOneAnswerOfTwoStores(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &orInPostgres, func(ctx context.Context) ([]byte, error) {
		b.external.set(errDown, nil)
		ask := lease.Ask{Key: keyOf(0), Owner: wire.UUID{9}, Term: time.Minute}
		a, _ := b.postgres.Store.Acquire(ctx, consumer, []lease.Ask{ask})
		b.postgres.Store.Record(ctx, consumer, []lease.End{{Hold: lease.Hold{Key: ask.Key, Owner: ask.Owner, Token: a[0].Token}, State: lease.Done, Result: []byte("theirs")}})
		return []byte("ours"), nil
	})})
	want(t, "result", string(b.result(0).Result), "theirs")
}

// A number that does not grow is drawn anew, however far behind Postgres is, and no call is made
// under it.
func TestStaleNumbersAreDrawnAnew(t *testing.T) {
	t.Parallel()
	for _, known := range []int64{1, 5, 250_000} {
		t.Run(fmt.Sprint(known), func(t *testing.T) {
			b := newBench(t, 1)
			ask := lease.Ask{Key: keyOf(0), Owner: wire.UUID{9}, Term: time.Nanosecond, Token: known}
			if _, err := b.external.Store.Acquire(t.Context(), consumer, []lease.Ask{ask}); err != nil {
				t.Fatal(err)
			}
			var calls atomic.Int32
			b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &outside, func(context.Context) ([]byte, error) {
				calls.Add(1)
				return nil, nil
			})})
			if r := b.result(0); r.Token <= known {
				t.Errorf("number %d was given behind %d", r.Token, known)
			}
			want(t, "calls", calls.Load(), 1)
			want(t, "told of it", len(b.heard()) > 1, known > mostSkipped)
		})
	}
}

// Copies on two partitions of a process ask for one lease at the same moment.
func TestCopiesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, 8)
	second, _ := b.newDesk()
	var calls atomic.Int32
	effects := []wire.Effect{effectOf(0, "", &outside, func(context.Context) ([]byte, error) {
		time.Sleep(20 * time.Millisecond)
		return fmt.Append(nil, calls.Add(1)), nil
	})}
	hang := make(chan struct{})
	b.external.set(nil, hang)
	b.desk.Start(t.Context(), []wire.Effect{effectOf(1, "", &outside, answer("first"))})
	for b.external.questions() == 0 { // until its question is on its way, and the next ones collect
		time.Sleep(time.Millisecond)
	}
	b.desk.Start(t.Context(), effects)
	second.Start(t.Context(), effects)
	time.Sleep(20 * time.Millisecond) // both have asked
	close(hang)
	want(t, "result", string(b.result(0).Result), "1")
	if err := second.Wait(t.Context(), 0); err != nil {
		t.Error(err)
	}
	want(t, "calls", calls.Load(), 1)
}

// An owner that gives up while the store is down leaves nothing running, and is not told that the
// call failed.
func TestGivenUpWhileTheStoreIsDown(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.external.set(errDown, nil)
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &outside, answer("r"))})
	b.quit()
	if err := b.desk.Wait(t.Context(), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	b.process.Wait(t.Context())
	want(t, "slots in use", len(b.process.slots), 0)
}
