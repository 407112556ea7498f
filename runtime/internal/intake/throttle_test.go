package intake

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestOverfullQueue(t *testing.T) {
	q := openQueue(10, 100, time.Hour)
	if fill(q, 1, 199); q.full(2) {
		t.Error("overfull below twice the bytes that fill it")
	}
	if fill(q, 1, 1); !q.full(2) {
		t.Error("not overfull at twice the bytes that fill it")
	}
	q = openQueue(10, 1<<30, time.Hour)
	if fill(q, 2*10*depth-1, large); q.full(2) {
		t.Error("overfull below twice the records that fill it")
	}
	if fill(q, 1, large); !q.full(2) {
		t.Error("not overfull at twice the records that fill it")
	}
}

func never() bool { return false }

func TestThrottleEndsWhenABatchIsTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := openQueue(10, 1<<30, time.Hour)
		fill(q, 10*depth, large)
		if room, timeout := q.waitForRoom(never); room || !timeout {
			t.Errorf("room %v although nothing was taken, timeout %v", room, timeout)
		}
		go func() {
			time.Sleep(RoomWait / 2)
			_, _, _ = q.Take(context.Background(), time.Hour)
		}()
		if room, timeout := q.waitForRoom(never); !room || timeout {
			t.Errorf("room %v although a batch was taken, timeout %v", room, timeout)
		}
	})
}

func TestThrottleEndsWhenAnotherPartitionStarves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, other := openQueue(10, 1<<30, time.Hour), openQueue(10, 1<<30, time.Hour)
		other.demand = q.demand
		fill(q, 10*depth, large)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			time.Sleep(RoomWait / 2)
			_, _, _ = other.Take(ctx, time.Hour)
		}()
		if room, timeout := q.waitForRoom(other.Starved); room || timeout {
			t.Errorf("room %v, timeout %v", room, timeout)
		}
	})
}

// fullBesideAnother is a queue that holds what fills it so often, and tells whether another
// partition is starved: its owner waits for records, and its log has some or none.
func fullBesideAnother(times int, more bool) (q *Queue, starved func() bool) {
	q = openQueue(10, 1<<30, time.Hour)
	fill(q, 10*depth*times, large)
	other := openQueue(10, 1<<30, time.Hour)
	_, _, _, _ = other.tryTake()
	if !more {
		other.ReachedEnd(0)
	}
	return q, other.Starved
}

// To pause a partition makes the client fetch again what it holds. Under load that would be
// most of its work, and deliveries slower still.
func TestFullQueueIsWaitedForWhileAllHaveWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, starved := fullBesideAnother(1, false)
		begun := time.Now()
		for range MaxRoomWaits - 1 {
			if pause, waited := q.Throttle(starved); pause || !waited {
				t.Fatalf("its partition was paused: %v; polling is said to have waited: %v", pause, waited)
			}
		}
		if waited := time.Since(begun); waited != (MaxRoomWaits-1)*RoomWait {
			t.Errorf("waited %v, want %v each time", waited, RoomWait)
		}
	})
}

// What a starved partition waits for comes behind the records of the one whose queue is full.
func TestFullQueueTakesMoreForOneThatIsStarved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, starved := fullBesideAnother(1, true)
		begun := time.Now()
		for range 2 * MaxRoomWaits {
			if pause, waited := q.Throttle(starved); pause || waited {
				t.Fatalf("its partition was paused: %v; polling is said to have waited: %v", pause, waited)
			}
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("polling waited %v", waited)
		}
	})
}

func TestOverfullQueueIsPausedForOneThatIsStarved(t *testing.T) {
	t.Parallel()
	q, starved := fullBesideAnother(2, true)
	if pause, _ := q.Throttle(starved); !pause || !q.Paused() {
		t.Error("its partition was not paused")
	}
}

func TestOverfullQueueIsWaitedForWhileAllHaveWork(t *testing.T) {
	t.Parallel()
	q, starved := fullBesideAnother(2, false)
	if pause, _ := q.Throttle(starved); pause || q.Paused() {
		t.Error("its partition was paused")
	}
}

// What a queue holds is bounded, whatever becomes of the others.
func TestQueueThatStaysFullPausesItsPartition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, starved := fullBesideAnother(1, false)
		for range MaxRoomWaits - 1 {
			q.Throttle(starved)
		}
		if pause, _ := q.Throttle(starved); !pause || !q.Paused() {
			t.Error("its partition was not paused")
		}
	})
}

// Waits count that follow each other: a record that finds room begins again.
func TestQueueThatHadRoomIsWaitedForAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := openQueue(10, 1<<30, time.Hour)
		for round := range 2 {
			fill(q, 10*depth, large)
			for range MaxRoomWaits - 1 {
				if pause, _ := q.Throttle(never); pause {
					t.Fatalf("round %d: its partition was paused", round)
				}
			}
			for range depth {
				_, _, _ = q.Take(t.Context(), time.Hour)
			}
		}
	})
}

// A partition at the end of its log waits for records, too, and says so again and again. That
// makes room for nothing.
func TestQueueThatStaysFullPausesItsPartitionWhileOthersAreIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, starved := fullBesideAnother(1, false)
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			idle := time.NewTicker(RoomWait / 2)
			defer idle.Stop()
			for {
				select {
				case <-idle.C:
					q.demand.Send()
				case <-stop:
					return
				}
			}
		}()
		begun := time.Now()
		for range MaxRoomWaits {
			q.Throttle(starved)
		}
		if waited := time.Since(begun); !q.Paused() || waited != MaxRoomWaits*RoomWait {
			t.Errorf("after %v its partition was paused: %v", waited, q.Paused())
		}
	})
}
