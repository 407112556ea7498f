package intake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// fetchBytes is what a client fetches of a partition at a time.
const fetchBytes = 128 << 10

func shutQueue(records, bytes int, wait time.Duration) *Queue {
	return NewQueue(Limits{Records: records, Bytes: bytes, Wait: wait, FetchBytes: fetchBytes}, NewSignal())
}

func openQueue(records, bytes int, wait time.Duration) *Queue {
	q := shutQueue(records, bytes, wait)
	q.Open(q.Reset())
	return q
}

func fill(q *Queue, n, size int) (full bool) {
	for i := range n {
		_, full = q.Put(&wire.Message{Offset: int64(i)}, size)
	}
	return full
}

func TestWhatClosesABatch(t *testing.T) {
	const soon, late = 10 * time.Millisecond, time.Hour
	for _, c := range []struct {
		name          string
		events, bytes int
		wait          time.Duration
		put, size     int
		want          int
	}{
		{"events", 3, 100, late, 5, 1, 3},
		{"bytes", 100, 10, late, 5, 5, 2},
		{"one record larger than a batch", 100, 10, late, 1, 50, 1},
		{"age", 100, 100, soon, 5, 1, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := openQueue(c.events, c.bytes, c.wait)
			fill(q, c.put, c.size)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, _, err := q.Take(ctx, time.Hour)
			if err != nil || len(got) != c.want {
				t.Errorf("took %d records, %v; want %d", len(got), err, c.want)
			}
		})
	}
}

// large is a size of records: depth batches of ten of them are as much as two fetches.
const large = 2 * fetchBytes / (10 * depth)

func TestQueueIsFull(t *testing.T) {
	if q := openQueue(10, 1<<30, time.Hour); fill(q, 10*depth-1, large) || !fill(q, 1, large) {
		t.Error("want full at depth batches of records")
	}
	if q := openQueue(10, 1<<30, time.Hour); fill(q, 2*fetchBytes/64-1, 64-framing) || !fill(q, 1, 64-framing) {
		t.Error("want full at the bytes of two fetches")
	}
	if q := openQueue(1000, 100, time.Hour); fill(q, 9, 11) || !fill(q, 1, 11) {
		t.Error("want full at the bytes of one batch")
	}
}

func TestFullQueueIsPausedUntilHalfIsTaken(t *testing.T) {
	q := openQueue(10, 1<<30, time.Hour)
	if fill(q, 10*depth-1, large); q.pauseIfFull() {
		t.Fatal("paused with room for a record")
	}
	if fill(q, 1, large); !q.pauseIfFull() {
		t.Fatal("not paused although full")
	}
	for i := range depth {
		_, resume, err := q.Take(t.Context(), time.Hour)
		if err != nil || resume != (i == depth/2-1) || q.Paused() != (i < depth/2-1) {
			t.Errorf("take %d: resume %v, paused %v, %v", i, resume, q.Paused(), err)
		}
	}
}

// A partition starves if it waits for records and its log goes on, as far as is known. That
// some stand there already, too few for a batch, is not enough.
func TestStarvedQueue(t *testing.T) {
	synctest.Test(t, starved)
}

func starved(t *testing.T) {
	q := openQueue(2, 1000, time.Hour)
	taken := make(chan error)
	take := func() {
		go func() {
			_, _, err := q.Take(t.Context(), time.Hour)
			taken <- err
		}()
		synctest.Wait() // Take waits
	}
	if q.Starved() {
		t.Error("it is starved although nobody waits")
	}
	if take(); !q.Starved() {
		t.Error("it is not starved before its first record")
	}
	if fill(q, 1, 1); !q.Starved() {
		t.Error("it is not starved with half a batch")
	}
	if fill(q, 1, 1); <-taken != nil || q.Starved() {
		t.Error("it is starved although a batch was taken")
	}
	if take(); !q.Starved() {
		t.Error("it is not starved although all was taken")
	}
	if q.ReachedEnd(2); q.Starved() {
		t.Error("it is starved at the end of its log")
	}
	if q.Shut(); q.Starved() {
		t.Error("it is starved although it accepts nothing")
	}
	q.Open(q.Reset())
	if q.Retake(); <-taken != errRetake || q.Starved() {
		t.Error("it is starved although it is taken over again")
	}
}

func TestShutQueue(t *testing.T) {
	q := openQueue(1, 100, time.Hour)
	fill(q, 3, 1)
	q.Shut()
	if accepted, _ := q.Put(&wire.Message{}, 1); accepted {
		t.Error("a shut queue accepted a record")
	}
	q.Retake() // it is being taken over anyway
	q.Open(q.Reset())
	fill(q, 1, 1)
	if got, _, err := q.Take(t.Context(), time.Hour); len(got) != 1 || err != nil {
		t.Errorf("took %d records, %v; want the one put after Open", len(got), err)
	}
	q.Retake()
	if _, _, err := q.Take(t.Context(), time.Hour); !errors.Is(err, errRetake) {
		t.Errorf("after Retake: %v", err)
	}
}

// Batches are of up to some hundred records, of 136 bytes each without what they hold: those of
// busy partitions have no room to spare, those of quiet ones not the room of a busy one's.
func TestABatchHasNoMoreRoomThanItMayFill(t *testing.T) {
	q := openQueue(500, 1<<30, time.Hour)
	fill(q, 501, 1)
	if full, next := cap(q.backlog.batches[0].records), cap(q.backlog.batches[1].records); full != 500 || next > 16 {
		t.Errorf("a batch of 500 records has room for %d, one with a record for %d", full, next)
	}
}

// The end of the log counts only when all that was read before it was taken.
func TestEndIsKnownWhenNothingIsHeld(t *testing.T) {
	q := shutQueue(1, 1<<20, time.Hour)
	q.ReachedEnd(7) // shut: the position is about to be set again
	q.Open(q.Reset())
	for _, step := range []struct {
		what string
		do   func()
		want int64
	}{
		{"nothing was read", func() {}, -1},
		{"a record is held", func() { q.Put(&wire.Message{Offset: 3}, 1); q.ReachedEnd(5) }, -1},
		{"it was taken", func() {
			if _, _, err := q.Take(t.Context(), time.Hour); err != nil {
				t.Fatal(err)
			}
		}, 5},
		{"the position is in doubt", q.Retake, -1},
	} {
		if step.do(); q.End() != step.want {
			t.Errorf("%s: the end is %d, want %d", step.what, q.End(), step.want)
		}
	}
}

// The polling goroutine may be late: the partition was taken over again meanwhile, perhaps at
// an earlier position.
func TestOpenWithAnOldVersionOpensNothing(t *testing.T) {
	q := shutQueue(1, 1<<20, time.Hour)
	for what, again := range map[string]func(){"given up": q.Shut, "taken over again": func() { q.Reset() }} {
		version := q.Reset()
		again()
		q.Open(version)
		if accepted, _ := q.Put(&wire.Message{}, 1); accepted {
			t.Errorf("%s: a record of the position before was accepted", what)
		}
	}
}
