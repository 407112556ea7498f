package confluent

import (
	"context"
	"errors"
	"sync"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
)

// queue holds records of one partition between the polling goroutine, which puts, and the
// partition's goroutine, which takes batches. It is bounded by its user: put tells when it
// is full, and the partition is then paused until half is taken.
type queue struct {
	closing
	bells

	mu      sync.Mutex
	open    bool    // records are accepted
	again   bool    // the partition must be taken over again
	waits   bool    // take waits for a batch to be full, or for records
	held    bool    // it was full, the partition is paused, and it has not drained since
	batches []batch // oldest first; only the last one grows
	records int     // of all batches
	size    int     // bytes of all batches
	spare   [][]idem.Message
	end     int64 // the client has read to here, and what it read was put; -1 if that is not known
	round   int   // of the take-overs, that with which records are accepted next
}

// bells are rung by one goroutine for another.
type bells struct {
	bell     chan struct{} // there may be something to take
	room     chan struct{} // something was taken
	starving chan struct{} // of all queues: take waits
}

// closing is what closes a batch.
type closing struct {
	events int
	bytes  int
	wait   time.Duration // age
}

type batch struct {
	records []idem.Message
	size    int
	since   time.Time // arrival of the first record
}

const (
	// depth is how many full batches are held while one is delivered, unless bytes end it first.
	depth = 4
	// framing is what a record has beside its key, value and headers, in bytes of a fetch.
	framing = 8
)

// errAgain ends take: the partition must be taken over again.
var errAgain = errors.New("the position is in doubt")

func newQueue(sub idem.Subscription, starving chan struct{}) *queue {
	return &queue{
		closing: closing{sub.BatchEvents, sub.BatchBytes, sub.BatchWait},
		bells:   bells{make(chan struct{}, 1), make(chan struct{}, 1), starving},
	}
}

// expect drops what the queue holds and returns the round with which it may be started.
func (q *queue) expect() (round int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop()
	return q.round
}

// start accepts records from now on, unless the queue was shut since expect returned round:
// records that are read then are of a position that does not count any more.
func (q *queue) start(round int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = round == q.round
}

// shut drops what the queue holds and accepts nothing until start.
func (q *queue) shut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop()
}

// retake is shut, and makes take return errAgain. It does nothing if the queue is shut,
// because the partition is then being taken over anyway.
func (q *queue) retake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open {
		return
	}
	q.drop()
	q.again = true
	ring(q.bell)
}

func (q *queue) drop() {
	q.round++
	q.open, q.again, q.held = false, false, false
	q.batches, q.records, q.size, q.end = nil, 0, 0, -1
}

// put adds a record. It reports false if the queue accepts none; full says that no more
// should follow until it has drained.
func (q *queue) put(m idem.Message, size int) (accepted, full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open {
		return false, false
	}
	if n := len(q.batches); n == 0 || q.closed(&q.batches[n-1]) {
		q.batches = append(q.batches, batch{records: q.slice(), since: time.Now()})
		ring(q.bell) // starts the clock of its age
	}
	last := &q.batches[len(q.batches)-1]
	last.records = append(q.grown(last.records), m)
	last.size += size
	q.records++
	q.size += size
	if q.closed(last) {
		ring(q.bell)
	}
	return true, q.full()
}

// full tells that there is enough. What the client fetches at a time has room twice in any
// case: records of other partitions come behind it, and must not come too late for them.
func (q *queue) full() bool { return q.holdsTimes(1) }

// holdsTimes tells whether the queue holds n times what fills it.
func (q *queue) holdsTimes(n int) bool {
	return q.records >= n*depth*q.events && q.size+framing*q.records >= 2*n*fetched || q.size >= n*q.bytes
}

// reached tells that all records below an offset were put.
func (q *queue) reached(end int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open {
		q.end = end
	}
}

// ended is the offset below which all records were put, and were taken if take returned
// none; -1 if it is not known.
func (q *queue) ended() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.batches) > 0 {
		return -1
	}
	return q.end
}

// drains waits a moment for room in a full queue, or until a partition that starves is hungry. It
// reports whether there is room, and whether the moment is over.
func (q *queue) drains(moment time.Duration, starving <-chan struct{}, hungry func() bool) (roomy, over bool) {
	timer := time.NewTimer(moment)
	defer timer.Stop()
	for {
		if q.roomy() {
			return true, false
		}
		select {
		case <-q.room:
		case <-starving:
			if hungry() {
				return false, false
			}
		case <-timer.C:
			return q.roomy(), true
		}
	}
}

func (q *queue) roomy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.full()
}

// crowded reports whether the queue holds twice of what fills it.
func (q *queue) crowded() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.holdsTimes(2)
}

// hungry reports whether take waits though the log may have records: the client has not said
// that it ends at next, the offset of the record that would be put next.
func (q *queue) hungry(next int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open && q.waits && q.end < next
}

// hold says that the partition is paused, and reports false if there is room after all.
func (q *queue) hold() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = q.full()
	return q.held
}

func (q *queue) closed(b *batch) bool { return len(b.records) >= q.events || b.size >= q.bytes }

// take waits for a batch, and returns none if the queue is empty for as long as idle. drained
// tells that the queue does not hold any more. The batch's memory goes back with release.
func (q *queue) take(ctx context.Context, idle time.Duration) (records []idem.Message, drained bool, err error) {
	timer := time.NewTimer(q.wait)
	defer timer.Stop()
	for since := time.Now(); ; {
		records, drained, left, err := q.first()
		if records != nil || err != nil {
			return records, drained, err
		}
		if left == 0 {
			if left = idle - time.Since(since); left <= 0 {
				return nil, false, nil
			}
		}
		timer.Reset(left)
		select {
		case <-q.bell:
		case <-timer.C:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// first takes the oldest batch if it is due, else it says when to look again; 0 = there is none.
func (q *queue) first() (records []idem.Message, drained bool, left time.Duration, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waits = false
	if q.again {
		return nil, false, 0, errAgain
	}
	if len(q.batches) == 0 {
		q.starve()
		return nil, false, 0, nil
	}
	b := q.batches[0]
	if left := q.wait - time.Since(b.since); left > 0 && !q.closed(&b) {
		q.starve()
		return nil, false, left, nil
	}
	q.batches[0] = batch{}
	q.batches = q.batches[1:]
	q.records -= len(b.records)
	q.size -= b.size
	ring(q.room)
	if q.held && q.records <= depth/2*q.events && q.size <= q.bytes/2 {
		q.held, drained = false, true
	}
	return b.records, drained, 0, nil
}

// starve tells polling that take waits.
func (q *queue) starve() {
	q.waits = true
	ring(q.starving)
}

// release gives back the memory of a batch that was delivered.
func (q *queue) release(records []idem.Message) {
	clear(records)
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.spare) < depth {
		q.spare = append(q.spare, records[:0])
	}
}

func (q *queue) slice() []idem.Message {
	if n := len(q.spare); n > 0 {
		s := q.spare[n-1]
		q.spare = q.spare[:n-1]
		return s
	}
	return nil
}

// grown makes room for one more record of a batch that is not closed, and never for more than
// a batch has: append would.
func (q *queue) grown(records []idem.Message) []idem.Message {
	if len(records) < cap(records) {
		return records
	}
	return append(make([]idem.Message, 0, min(max(16, 2*len(records)), q.events)), records...)
}

// holds reports whether the partition must stay paused.
func (q *queue) holds() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}
