package effect

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// An answer that was lost is asked for again as the same try: the lease is had at once, the call
// is its first, and nobody has to decide about a call that was never made.
func TestALostAnswerIsHadAgain(t *testing.T) {
	t.Parallel()
	eachBench(t, 1, func(t *testing.T, b *bench, s *fakeStore) {
		terms := soon
		terms.Lease, terms.Interrupts = time.Minute, true
		s.losses.Store(3)
		var calls atomic.Int32
		b.start(t.Context(), []wire.Effect{effectOf(0, "", &terms, func(ctx context.Context) ([]byte, error) {
			d, _ := idemtype.DeliveryFrom(ctx)
			calls.Add(1)
			return fmt.Append(nil, d.Attempt), nil
		})})
		want(t, "result", string(b.result(0).Result), "1")
		want(t, "calls", calls.Load(), 1)
	})
}

// A lease that is had late, because the first answers were lost, is extended in time.
func TestALeaseThatIsHadLateIsExtendedAtOnce(t *testing.T) {
	t.Parallel()
	b := newOutside(t, 1)
	terms := soon
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

// A person's result is recorded under the person's decision, and nothing is called.
func TestAPersonsResultIsTaken(t *testing.T) {
	t.Parallel()
	b := newOutside(t, 1)
	e := effectOf(0, "", &soon, func(context.Context) ([]byte, error) {
		t.Error("it was called")
		return nil, nil
	})
	b.external.losses.Store(1)
	b.desk.Start(t.Context(), []wire.Effect{e}, lease.Decision{Number: 1, Result: []byte("r")})
	want(t, "result", string(b.result(0).Result), "r")
	want(t, "state", b.external.States(consumer)[keyOf(0)], lease.Done)
}
