package intake

import "time"

const (
	// RoomWait is how long polling waits for space in a full queue before it continues with other
	// work, such as a rebalance.
	RoomWait = 20 * time.Millisecond
	// MaxRoomWaits is how many of these waits may end without space before the partition is
	// paused. After each of them one more record is polled: other partitions may have records of
	// which the client has not yet reported any.
	MaxRoomWaits = 10
)

// Throttle applies back-pressure for a queue that Put found full. It reports whether the partition
// must be paused. A pause makes the client drop records that it has fetched, and fetch them again:
// under load, that is most of its work. So it is the last resort.
//
// While another partition starves, polling continues, because that partition's records come after
// those of this one. This ends when the queue is overfull. While no partition starves, polling
// waits for space. After it waited, the next poll must take a single record, because there may be
// no space. So a queue becomes overfull by at most one poll of several records.
func (q *Queue) Throttle(starved func() bool) (pause, waited bool) {
	overfull := q.full(2)
	if !overfull && starved() {
		return false, false
	}
	room, timeout := q.waitForRoom(starved)
	if timeout {
		q.timeouts++
	}
	if room || q.timeouts < MaxRoomWaits && !(overfull && starved()) {
		return false, true
	}
	q.timeouts = 0
	return q.pauseIfFull(), true
}

// waitForRoom waits for RoomWait, or until there is space, or until another partition starves.
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

// pauseIfFull marks the partition as paused, unless the queue now has space.
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
