package intake

import "time"

const (
	// RoomWait is how long polling waits for space in a full queue before it goes on with other
	// work, for example a rebalance.
	RoomWait = 20 * time.Millisecond
	// MaxRoomWaits is how many of these waits may end without room before the partition is
	// paused. After each of them one more record comes: others may have records that the client
	// did not tell of.
	MaxRoomWaits = 10
)

// Throttle is the back-pressure of a queue that Put found full. It reports whether the
// partition must be paused. That makes the client throw away what it has fetched, and fetch it
// again: under load, most of its work. So it is the last resort.
//
// While another partition starves, polling goes on: that one's records come behind. This ends
// when the queue is overfull. While none starves, polling waits for room.
func (q *Queue) Throttle(starved func() bool) (pause bool) {
	overfull := q.full(2)
	if !overfull && starved() {
		return false
	}
	room, timeout := q.waitForRoom(starved)
	if timeout {
		q.timeouts++
	}
	if room || q.timeouts < MaxRoomWaits && !(overfull && starved()) {
		return false
	}
	q.timeouts = 0
	return q.pauseIfFull()
}

// waitForRoom waits for RoomWait, or until there is room, or until another partition starves.
func (q *Queue) waitForRoom(starved func() bool) (room, timeout bool) {
	timer := time.NewTimer(RoomWait)
	defer timer.Stop()
	for {
		if !q.full(1) {
			return true, false
		}
		select {
		case <-q.taken:
		case <-q.demand:
			if starved() {
				return false, false
			}
		case <-timer.C:
			return !q.full(1), true
		}
	}
}

// pauseIfFull notes that the partition is paused, unless the queue has space by now.
func (q *Queue) pauseIfFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = q.backlog.full(1)
	return q.paused
}

// Paused reports whether the partition must stay paused: until the queue is half empty.
func (q *Queue) Paused() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.paused
}

func (q *Queue) full(n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.backlog.full(n)
}
