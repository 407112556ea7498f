package effect

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// An answer that was lost is asked for again as the same try: the lease is had at once, the call
// is its first, and nobody has to decide about a call that was never made.
func TestALostAnswerIsHadAgain(t *testing.T) {
	t.Parallel()
	for name, terms := range map[string]wire.EffectTerms{"Postgres": soon, "outside": outside} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 1)
			terms.Lease, terms.Interrupts = time.Minute, true
			s := b.postgres
			if terms.External {
				s = b.external
			}
			s.losses.Store(3)
			var calls atomic.Int32
			b.start(t.Context(), []wire.Effect{effectOf(0, "", &terms, func(ctx context.Context) ([]byte, error) {
				d, _ := DeliveryFrom(ctx)
				calls.Add(1)
				return fmt.Append(nil, d.Attempt), nil
			})})
			want(t, "result", string(b.result(0).Result), "1")
			want(t, "calls", calls.Load(), 1)
		})
	}
}

// A lease that is had late, because the first answers were lost, is extended in time.
func TestALeaseThatIsHadLateIsExtendedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	terms := outside
	terms.Lease, terms.Interrupts = 4500*time.Millisecond, true
	b.external.losses.Store(5) // more than a third of the term, by the pauses between asks
	var got time.Time
	var first atomic.Int64
	b.external.extended = func() { first.CompareAndSwap(0, time.Now().UnixNano()) }
	b.start(t.Context(), []wire.Effect{effectOf(0, "", &terms, func(ctx context.Context) ([]byte, error) {
		got = time.Now()
		select {
		case <-ctx.Done():
		case <-time.After(terms.Lease):
		}
		return []byte("r"), ctx.Err()
	})})
	want(t, "result", string(b.result(0).Result), "r")
	if took := time.Unix(0, first.Load()).Sub(got); took > terms.Lease/6 {
		t.Errorf("it was extended %v after the call began", took)
	}
}

// An end that Postgres takes in place of a store that is down is recorded although an answer of
// Postgres is lost on the way.
func TestAnAnswerIsMovedAlthoughOneIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	terms := orInPostgres
	terms.Interrupts = true
	b.start(t.Context(), []wire.Effect{effectOf(0, "", &terms, func(context.Context) ([]byte, error) {
		b.postgres.losses.Store(1)
		b.external.set(errDown, nil)
		return []byte("r"), nil
	})})
	r := b.result(0)
	want(t, "result", string(r.Result), "r")
	want(t, "External", r.External, false)
}

// A person's result is recorded under the person's decision, and nothing is called.
func TestAPersonsResultIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	e := effectOf(0, "", &outside, func(context.Context) ([]byte, error) {
		t.Error("it was called")
		return nil, nil
	})
	b.external.losses.Store(1)
	b.desk.StartBy(t.Context(), []wire.Effect{e}, lease.Decision{Number: 1, Result: []byte("r")})
	want(t, "result", string(b.result(0).Result), "r")
	want(t, "state", b.external.States(consumer)[keyOf(0)], lease.Done)
}
