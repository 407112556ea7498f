package intake

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// cursorAt is a cursor that goes to a state at an offset, and its open queue.
func cursorAt(state State, offset int64) (*Cursor, *Queue) {
	q := shutQueue(100, 1000, time.Hour)
	c := NewCursor(q)
	c.Apply(Report{State: state, at: idemtype.Position{Offset: offset, Epoch: -1}, version: q.Reset()})
	c.Begin()
	return &c, q
}

// held are the offsets that a queue holds.
func held(q *Queue) (offsets []int64) {
	for _, b := range q.backlog.batches {
		for _, m := range b.records {
			offsets = append(offsets, m.Offset)
		}
	}
	return offsets
}

func TestRecordsBelowThePositionAreDropped(t *testing.T) {
	c, q := cursorAt(Reading, 10)
	for _, offset := range []int64{9, 10, 10, 12, 11, 13} {
		c.Accept(&wire.Message{Offset: offset, LeaderEpoch: -1}, 1)
	}
	if got, want := held(q), []int64{10, 12, 13}; !slices.Equal(got, want) {
		t.Errorf("accepted %v, want %v", got, want)
	}
}

// No log has a record with an older leader epoch after one with a younger.
func TestEpochThatGoesDownIsRefused(t *testing.T) {
	c, q := cursorAt(Reading, 0)
	c.compared = 5
	for offset, epoch := range []int32{3, 3, 5, -1} {
		if got := c.Accept(&wire.Message{Offset: int64(offset), LeaderEpoch: epoch}, 1); got != Accepted {
			t.Fatalf("offset %d of epoch %d: %v, want it accepted", offset, epoch, got)
		}
	}
	if got := c.Accept(&wire.Message{Offset: 4, LeaderEpoch: 4}, 1); got != OldEpoch || len(held(q)) != 4 {
		t.Errorf("epoch 4 behind 5: %v; held %v", got, held(q))
	}
}

// The log of a new leader is compared with the position once, before its first record is accepted.
func TestEpochOfANewLeaderIsComparedOnce(t *testing.T) {
	c, q := cursorAt(Reading, 0)
	accept := func(offset int64, epoch int32) Outcome {
		return c.Accept(&wire.Message{Offset: offset, LeaderEpoch: epoch}, 1)
	}
	takeOver := func(leader int32) {
		c.Apply(Report{State: Reading, at: idemtype.Position{Offset: c.Next, Epoch: c.Epoch}, leader: leader, version: q.Reset()})
		c.Begin()
	}
	takeOver(5)
	for offset, epoch := range []int32{3, 5} { // elections before the take-over
		if got := accept(int64(offset), epoch); got != Accepted {
			t.Fatalf("offset %d of epoch %d: %v, want it accepted", offset, epoch, got)
		}
	}
	if got := accept(2, 6); got != NewEpoch || c.State != TakingOver {
		t.Errorf("epoch 6 behind 5: %v, state %v", got, c.State)
	}
	takeOver(-1) // the broker does not say
	if got := accept(2, 6); got != Accepted {
		t.Errorf("epoch 6 again: %v", got)
	}
}

func TestRecordThatIsAwaitedIsReadAgain(t *testing.T) {
	c, q := cursorAt(AwaitingRecord, 10)
	if got := c.Accept(&wire.Message{Offset: 10}, 1); got != Arrived || c.State != TakingOver || len(held(q)) != 0 {
		t.Errorf("the record: %v, state %v, held %v", got, c.State, held(q))
	}
	c.Apply(Report{State: Reading, at: idemtype.Position{Offset: 10, Epoch: -1}, version: q.Reset()})
	c.Begin()
	if got := c.Accept(&wire.Message{Offset: 10}, 1); got != Accepted {
		t.Errorf("the record, read again: %v", got)
	}
}

// A partition that awaits a record is taken over for markers, too, but not for nothing.
func TestEndOfTheLogIsAwaitedBehindThePosition(t *testing.T) {
	c, _ := cursorAt(AwaitingRecord, 10)
	if got := c.ReachedEnd(10); got != Dropped || c.State != AwaitingRecord {
		t.Errorf("an end at the position: %v, state %v", got, c.State)
	}
	if got := c.ReachedEnd(11); got != Arrived || c.State != TakingOver {
		t.Errorf("an end behind it: %v, state %v", got, c.State)
	}
}

// The polling goroutine may be late: the position was put in doubt before it began to read.
func TestNothingIsAcceptedAtAPositionInDoubt(t *testing.T) {
	q := shutQueue(100, 1000, time.Hour)
	c := NewCursor(q)
	c.Apply(Report{State: Reading, version: q.Reset()})
	q.Reset() // taken over again
	c.Begin()
	if got := c.Accept(&wire.Message{LeaderEpoch: -1}, 1); got != Dropped || c.Next != 0 {
		t.Errorf("a record: %v, the next offset is %d", got, c.Next)
	}
}

func TestTakeOverAgainEndsTheDeliveryOfWhatIsHeld(t *testing.T) {
	c, q := cursorAt(Reading, 0)
	c.Accept(&wire.Message{LeaderEpoch: -1}, 1)
	q.Retake()
	if _, _, err := q.Take(t.Context(), time.Hour); !errors.Is(err, errRetake) {
		t.Errorf("%v, want the partition taken over again", err)
	}
}
