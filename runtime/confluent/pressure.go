package confluent

import "time"

const (
	// moment is how long polling waits for room in a full queue before it looks at all else
	// that waits for it, such as a rebalance.
	moment = 20 * time.Millisecond
	// moments is how many of them a queue may stay full before its partition is paused, each
	// with one more record in it: others may have records that the client did not tell of.
	moments = 10
)

// press is called when a queue is full. To pause its partition makes the client throw away
// what it has fetched, and fetch it again: under load, most of its work. So polling goes on for
// partitions that have nothing to do for now, whose records come behind, until the queue is
// crowded. If there are none it waits for room, or until there is one.
func (r *run) press(t *tenure) {
	crowded := t.queue.crowded()
	if !crowded && r.parts.hungry() {
		return
	}
	roomy, over := t.queue.drains(moment, r.starving, r.parts.hungry)
	if over {
		t.pressed++
	}
	if roomy || t.pressed < moments && !(crowded && r.parts.hungry()) {
		return
	}
	t.pressed = 0
	if t.queue.hold() {
		r.pause(t)
	}
}
