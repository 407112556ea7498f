package confluent

import "time"

const (
	// moment is how long polling waits for room in a full queue before it looks at all else
	// that waits for it, such as a rebalance.
	moment = 20 * time.Millisecond
	// moments is how many of them a queue may stay full before its partition is paused, each
	// with one more record in it.
	moments = 10
)

// press is called when a queue is full. To pause its partition makes the client throw away
// what it has fetched, and fetch it again: under load, most of its work. So polling waits
// for room instead, as long as no other partition has nothing to do for that.
func (r *run) press(t *tenure) {
	if t.queue.drains(moment) {
		return
	}
	if t.pressed++; t.pressed < moments && !t.queue.crowded() && !r.hungry() {
		return
	}
	t.pressed = 0
	if t.queue.hold() {
		r.pause(t)
	}
}

// hungry reports whether a partition has nothing to deliver although its log may have more.
func (r *run) hungry() bool {
	for _, t := range r.parts {
		if t.state == reading && !t.paused && t.queue.hungry(t.next) {
			return true
		}
	}
	return false
}
