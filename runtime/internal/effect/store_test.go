package effect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// What has a lease in Postgres goes on there, and everything else is outside: after the moment at
// which a service is given a store.
func TestALeaseInPostgresStaysThere(t *testing.T) {
	t.Parallel()
	before := newBench(t, 2)
	before.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &soon, answer("Postgres"))}, lease.Decision{})
	want(t, "External", before.result(0).External, false)
	b := before.beside(NewProcess(consumer, before.postgres, before.external, 2, slog.New(slog.DiscardHandler)))
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &soon, answer("again")), effectOf(1, "", &soon, answer("outside"))}, lease.Decision{})
	r := b.result(0)
	want(t, "result", string(r.Result), "Postgres")
	want(t, "External", r.External, false)
	want(t, "External", b.result(1).External, true)
	want(t, "result", string(b.result(1).Result), "outside")
}

// A number that does not grow is drawn anew, however far behind Postgres is, and no call is made
// under it: the store is asked twice, and told the result.
func TestStaleNumbersAreDrawnAnew(t *testing.T) {
	t.Parallel()
	for _, known := range []int64{1, 5, 250_000} {
		t.Run(fmt.Sprint(known), func(t *testing.T) {
			b := newOutside(t, 1)
			ask := lease.Ask{Key: keyOf(0), Owner: wire.UUID{9}, Term: time.Nanosecond, Token: known}
			if _, err := b.external.Store.Acquire(t.Context(), consumer, []lease.Ask{ask}); err != nil {
				t.Fatal(err)
			}
			var calls atomic.Int32
			b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &soon, func(context.Context) ([]byte, error) {
				calls.Add(1)
				return nil, nil
			})}, lease.Decision{})
			if r := b.result(0); r.Token <= known {
				t.Errorf("number %d was given behind %d", r.Token, known)
			}
			want(t, "calls", calls.Load(), 1)
			want(t, "requests", b.external.questions(), 3)
		})
	}
}

// Copies on two partitions of a process ask for one lease at the same moment.
func TestCopiesAtOnce(t *testing.T) {
	t.Parallel()
	b := newOutside(t, 8)
	second, _ := b.newDesk()
	var calls atomic.Int32
	effects := []wire.Effect{effectOf(0, "", &soon, func(context.Context) ([]byte, error) {
		time.Sleep(20 * time.Millisecond)
		return fmt.Append(nil, calls.Add(1)), nil
	})}
	hang := make(chan struct{})
	b.external.set(nil, hang)
	b.desk.Start(t.Context(), []wire.Effect{effectOf(1, "", &soon, answer("first"))}, lease.Decision{})
	for b.external.questions() == 0 { // until its question is on its way, and the next ones collect
		time.Sleep(time.Millisecond)
	}
	b.desk.Start(t.Context(), effects, lease.Decision{})
	second.Start(t.Context(), effects, lease.Decision{})
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
	b := newOutside(t, 1)
	b.external.set(errDown, nil)
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &soon, answer("r"))}, lease.Decision{})
	b.quit()
	if err := b.desk.Wait(t.Context(), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	b.process.Wait(t.Context())
	want(t, "slots in use", len(b.process.slots), 0)
}
