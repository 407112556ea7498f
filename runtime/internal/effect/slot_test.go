package effect

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

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

	b.process.Wait(context.Background())
	want(t, "record keys that are busy behind the last call", len(b.process.callers.lines), 0)
}
