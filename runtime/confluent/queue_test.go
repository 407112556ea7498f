package confluent

import (
	"context"
	"errors"
	"testing"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
)

func testQueue(events, bytes int, wait time.Duration) *queue {
	q := newQueue(idem.Subscription{BatchEvents: events, BatchBytes: bytes, BatchWait: wait}, make(chan struct{}, 1))
	q.start(q.expect())
	return q
}

func fill(q *queue, n, size int) (full bool) {
	for i := range n {
		_, full = q.put(idem.Message{Offset: int64(i)}, size)
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
			q := testQueue(c.events, c.bytes, c.wait)
			fill(q, c.put, c.size)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			got, _, err := q.take(ctx, time.Hour)
			if err != nil || len(got) != c.want {
				t.Errorf("took %d records, %v; want %d", len(got), err, c.want)
			}
		})
	}
}

// large is the size of records of which depth batches of ten are as much as two fetches.
const large = 2 * fetched / (10 * depth)

func TestQueueIsFull(t *testing.T) {
	if q := testQueue(10, 1<<30, time.Hour); fill(q, 10*depth-1, large) || !fill(q, 1, large) {
		t.Error("want full at depth batches of records")
	}
	if q := testQueue(10, 1<<30, time.Hour); fill(q, 2*fetched/64-1, 64-framing) || !fill(q, 1, 64-framing) {
		t.Error("want full at the bytes of two fetches")
	}
	if q := testQueue(1000, 100, time.Hour); fill(q, 9, 11) || !fill(q, 1, 11) {
		t.Error("want full at the bytes of one batch")
	}
}

func TestFullQueueHoldsUntilHalfIsTaken(t *testing.T) {
	q := testQueue(10, 1<<30, time.Hour)
	if fill(q, 10*depth-1, large); q.hold() {
		t.Fatal("held with room for a record")
	}
	if fill(q, 1, large); !q.hold() {
		t.Fatal("not held although full")
	}
	for i := range depth {
		_, drained, err := q.take(t.Context(), time.Hour)
		if err != nil || drained != (i == depth/2-1) || q.holds() != (i < depth/2-1) {
			t.Errorf("take %d: drained %v, holds %v, %v", i, drained, q.holds(), err)
		}
	}
}

func TestFullQueueIsWaitedForAMoment(t *testing.T) {
	q := testQueue(10, 1<<30, time.Hour)
	fill(q, 10*depth, large)
	if roomy, over := q.drains(time.Millisecond, nil, nil); roomy || !over {
		t.Errorf("room %v although nothing was taken, over %v", roomy, over)
	}
	go func() {
		time.Sleep(10 * time.Millisecond)
		_, _, _ = q.take(context.Background(), time.Hour)
	}()
	if roomy, over := q.drains(10*time.Second, nil, nil); !roomy || over {
		t.Errorf("room %v although a batch was taken, over %v", roomy, over)
	}
}

func TestFullQueueIsNotWaitedForWhileAnotherStarves(t *testing.T) {
	q, other := testQueue(10, 1<<30, time.Hour), testQueue(10, 1<<30, time.Hour)
	fill(q, 10*depth, large)
	go func() {
		time.Sleep(10 * time.Millisecond)
		_, _, _ = other.take(context.Background(), time.Millisecond)
	}()
	if roomy, over := q.drains(10*time.Second, other.starving, func() bool { return other.hungry(0) }); roomy || over {
		t.Errorf("room %v, over %v", roomy, over)
	}
}

// A partition starves if it waits for records and its log goes on, as far as is known. That
// some stand there already, too few for a batch, is not enough.
func TestHungryQueue(t *testing.T) {
	q := testQueue(2, 1000, time.Hour)
	taken := make(chan error)
	take := func() {
		go func() {
			_, _, err := q.take(t.Context(), time.Hour)
			taken <- err
		}()
		<-q.starving
	}
	if q.hungry(0) {
		t.Error("it is hungry although nobody waits")
	}
	if take(); !q.hungry(0) {
		t.Error("it is not hungry before its first record")
	}
	if fill(q, 1, 1); !q.hungry(1) {
		t.Error("it is not hungry with half a batch")
	}
	if fill(q, 1, 1); <-taken != nil || q.hungry(2) {
		t.Error("it is hungry although a batch was taken")
	}
	if take(); !q.hungry(2) {
		t.Error("it is not hungry although all was taken")
	}
	if q.reached(2); q.hungry(2) {
		t.Error("it is hungry at the end of its log")
	}
	if q.shut(); q.hungry(3) {
		t.Error("it is hungry although it accepts nothing")
	}
	q.start(q.expect())
	if q.retake(); <-taken != errAgain || q.hungry(3) {
		t.Error("it is hungry although it is taken over again")
	}
}

func TestCrowdedQueue(t *testing.T) {
	q := testQueue(10, 100, time.Hour)
	if fill(q, 1, 199); q.crowded() {
		t.Error("crowded below twice the bytes that fill it")
	}
	if fill(q, 1, 1); !q.crowded() {
		t.Error("not crowded at twice the bytes that fill it")
	}
	q = testQueue(10, 1<<30, time.Hour)
	if fill(q, 2*10*depth-1, large); q.crowded() {
		t.Error("crowded below twice the records that fill it")
	}
	if fill(q, 1, large); !q.crowded() {
		t.Error("not crowded at twice the records that fill it")
	}
}

func TestShutQueue(t *testing.T) {
	q := testQueue(1, 100, time.Hour)
	fill(q, 3, 1)
	q.shut()
	if accepted, _ := q.put(idem.Message{}, 1); accepted {
		t.Error("a shut queue accepted a record")
	}
	q.retake() // it is being taken over anyway
	q.start(q.expect())
	fill(q, 1, 1)
	if got, _, err := q.take(t.Context(), time.Hour); len(got) != 1 || err != nil {
		t.Errorf("took %d records, %v; want the one put after start", len(got), err)
	}
	q.retake()
	if _, _, err := q.take(t.Context(), time.Hour); !errors.Is(err, errAgain) {
		t.Errorf("after retake: %v", err)
	}
}

// Batches are of up to some hundred records, of 136 bytes each without what they hold: those of
// busy partitions have no room to spare, those of quiet ones not the room of a busy one's.
func TestABatchHasNoMoreRoomThanItMayFill(t *testing.T) {
	q := testQueue(500, 1<<30, time.Hour)
	fill(q, 501, 1)
	if full, next := cap(q.batches[0].records), cap(q.batches[1].records); full != 500 || next > 16 {
		t.Errorf("a batch of 500 records has room for %d, one with a record for %d", full, next)
	}
}

// The end of the log counts only when all that was read before it was taken.
func TestEndIsKnownWhenNothingIsHeld(t *testing.T) {
	q := newQueue(idem.Subscription{BatchEvents: 1, BatchBytes: 1 << 20, BatchWait: time.Hour}, make(chan struct{}, 1))
	q.reached(7) // shut: the position is about to be set anew
	q.start(q.expect())
	for _, step := range []struct {
		what string
		do   func()
		want int64
	}{
		{"nothing was read", func() {}, -1},
		{"a record is held", func() { q.put(idem.Message{Offset: 3}, 1); q.reached(5) }, -1},
		{"it was taken", func() {
			if _, _, err := q.take(t.Context(), time.Hour); err != nil {
				t.Fatal(err)
			}
		}, 5},
		{"the position is in doubt", q.retake, -1},
	} {
		if step.do(); q.ended() != step.want {
			t.Errorf("%s: the end is %d, want %d", step.what, q.ended(), step.want)
		}
	}
}

// The polling goroutine may be late: the partition was taken over anew meanwhile, perhaps at
// an earlier position.
func TestLateStartOpensNothing(t *testing.T) {
	q := newQueue(idem.Subscription{BatchEvents: 1, BatchBytes: 1 << 20, BatchWait: time.Hour}, make(chan struct{}, 1))
	for what, again := range map[string]func(){"given up": q.shut, "taken over anew": func() { q.expect() }} {
		round := q.expect()
		again()
		q.start(round)
		if accepted, _ := q.put(idem.Message{}, 1); accepted {
			t.Errorf("%s: a record of the position before was accepted", what)
		}
	}
}
