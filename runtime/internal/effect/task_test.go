package effect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Calls of one record key are made in the order of its records, and no more than the slots allow
// run at the same time.
func TestOrderAndSlots(t *testing.T) {
	t.Parallel()
	b := newOutside(t, 3)
	var mu sync.Mutex
	var order []int64
	running, most := 0, 0
	var all []wire.Effect
	for offset := range int64(12) {
		key := "k"
		if offset >= 4 {
			key = fmt.Sprint(offset)
		}
		all = append(all, effectOf(offset, key, &soon, func(context.Context) ([]byte, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Duration(20-3*offset%5) * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			running--
			if key == "k" {
				order = append(order, offset)
			}
			return nil, nil
		}))
	}
	b.desk.Start(t.Context(), all, lease.Decision{})
	for offset := range int64(12) {
		b.result(offset)
	}
	want(t, "order", fmt.Sprint(order), "[0 1 2 3]")
	want(t, "most at the same time", most, 3)
}

// The heartbeat extends a lease while its call runs, and not once the answer is recorded: it would
// find the lease gone.
func TestTheHeartbeatStopsBeforeTheRecord(t *testing.T) {
	t.Parallel()
	b := newOutside(t, 1)
	var extended, late atomic.Int32
	var recording atomic.Bool
	b.external.extended = func() {
		extended.Add(1)
		if recording.Load() {
			late.Add(1)
		}
	}
	b.external.recorded = func([]lease.End) {
		recording.Store(true)
		time.Sleep(soon.Lease)
	}
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &soon, func(context.Context) ([]byte, error) {
		time.Sleep(2*soon.Lease - soon.Lease/6) // between two of them
		return []byte("r"), nil
	})}, lease.Decision{})
	want(t, "result", string(b.result(0).Result), "r")
	want(t, "late heartbeats", late.Load(), 0)
	if extended.Load() < 3 {
		t.Errorf("%d heartbeats in two terms", extended.Load())
	}
}

// TestRetryAfterDecidesThePause: an error that names the time of the next call overrides the
// pauses of on_failure.
func TestRetryAfterDecidesThePause(t *testing.T) {
	t.Parallel()
	eachBench(t, 1, func(t *testing.T, b *bench, s *fakeStore) {
		var calls atomic.Int32
		recorded := make(chan lease.End, 10)
		s.recorded = func(ends []lease.End) {
			for _, e := range ends {
				recorded <- e
			}
		}
		b.start(t.Context(), []wire.Effect{effectOf(0, "", &soon, func(context.Context) ([]byte, error) {
			calls.Add(1)
			return nil, verdict.RetryAfter(time.Hour, errors.New("too many requests"))
		})})
		if e := <-recorded; e.State != lease.Failed || e.Pause != time.Hour {
			t.Errorf("recorded state %v and a pause of %v, want %v and 1h", e.State, e.Pause, lease.Failed)
		}
		want(t, "calls", calls.Load(), 1)
	})
}

// A call whose lease is another's hears of it, its answer is dropped, and what the store then
// holds counts. One that cannot learn whether it still has its lease hears of it when the lease is
// over, not later.
func TestALostLeaseEndsTheCall(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*fakeStore){
		"forgotten": func(s *fakeStore) { s.Forget() },
		"no answer": func(s *fakeStore) { s.set(nil, make(chan struct{})) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newOutside(t, 1)
			var calls atomic.Int32
			b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &soon, func(ctx context.Context) ([]byte, error) {
				n := calls.Add(1)
				if n == 1 {
					lose(b.external)
					<-ctx.Done()
					if !errors.Is(context.Cause(ctx), lease.ErrLost) {
						t.Errorf("the context ended with %v", context.Cause(ctx))
					}
					b.external.Forget()
					b.external.set(nil, nil)
				}
				return fmt.Append(nil, n), nil
			})}, lease.Decision{})
			want(t, "result", string(b.result(0).Result), "2")
		})
	}
}

// A store that holds no lease where one must be halts the partition, wherever it is asked.
func TestABrokenStoreHalts(t *testing.T) {
	t.Parallel()
	broken := &lease.Broken{Err: errors.New("state q")}
	for _, at := range []string{"acquire", "record"} {
		t.Run(at, func(t *testing.T) {
			eachBench(t, 1, func(t *testing.T, b *bench, s *fakeStore) {
				if at == "acquire" {
					s.set(broken, nil)
				}
				b.desk.Start(t.Context(), []wire.Effect{effectOf(7, "", &soon, func(context.Context) ([]byte, error) {
					s.set(broken, nil)
					return nil, nil
				})}, lease.Decision{})
				_, err := b.end(7)
				h, ok := errors.AsType[*verdict.Halt](err)
				if !ok || h.Code != halt.Database || h.Offset != 7 || !errors.Is(h.Err, broken) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// What people hear: why effects wait, and that they do not any more.
func TestAStoreThatIsDownIsToldOf(t *testing.T) {
	t.Parallel()
	b := newOutside(t, 1)
	b.external.set(errDown, nil)
	var calls atomic.Int32
	b.desk.Start(t.Context(), []wire.Effect{effectOf(0, "", &soon, func(context.Context) ([]byte, error) {
		calls.Add(1)
		return nil, nil
	})}, lease.Decision{})
	time.Sleep(3 * soon.Lease)
	want(t, "calls without a store", calls.Load(), 0)
	b.external.set(nil, nil)
	want(t, "outside", b.result(0).External, true)
	want(t, "calls", calls.Load(), 1)
	if told := b.heard(); !slices.Equal(told, []string{"cannot query the lease store: connection refused", ""}) {
		t.Errorf("told: %q", told)
	}
}
