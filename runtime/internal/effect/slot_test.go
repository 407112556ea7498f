package effect

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Who waits for a slot is in no line for a lock: a handler gets a lock that nobody holds. Later
// the effect gets slot and lock.
func TestWhoWaitsForASlotIsInNoLine(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	goOn, begun := make(chan struct{}), make(chan struct{})
	b.start(t.Context(), []wire.Effect{effectOf(0, "a", &soon, func(context.Context) ([]byte, error) {
		close(begun)
		<-goOn
		return nil, nil
	})})
	<-begun
	b.start(t.Context(), []wire.Effect{lockedEffect(1, "b", &soon, answer("r")), lockedEffect(2, "c", &soon, answer("r"))})
	for range 20 {
		locks := b.process.NewLocks(func(error) {})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := locks.Take(ctx, []Wanted{{Lock: account, Terms: &wire.LockTerms{Lease: time.Minute}}}, true)
		cancel()
		if err != nil {
			t.Fatalf("a handler waits for a lock that nobody has: %v", err)
		}
		locks.GiveBack(t.Context())
	}
	close(goOn)
	b.result(0)
	b.result(1)
	b.result(2)
}

// Calls of one record key are made one after the other, also if one is a letter's, which has
// another desk.
func TestCallsOfOneRecordKeyAreApart(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	letters := b.beside(b.process)
	var running, most atomic.Int32
	call := func(context.Context) ([]byte, error) {
		most.Store(max(most.Load(), running.Add(1)))
		time.Sleep(50 * time.Millisecond)
		running.Add(-1)
		return nil, nil
	}
	b.start(t.Context(), []wire.Effect{effectOf(1, "a", &soon, call), effectOf(2, "a", &soon, call)})
	letters.start(t.Context(), []wire.Effect{effectOf(0, "a", &soon, call)})
	b.result(1)
	b.result(2)
	letters.result(0)
	want(t, "calls at the same time", most.Load(), 1)

	b.process.calls.Wait()
	want(t, "record keys that are busy behind the last call", len(b.process.callers.lines), 0)
}
