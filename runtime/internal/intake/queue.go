package intake

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Queue holds records of one partition. The polling goroutine puts records, and the partition's
// goroutine takes batches.
type Queue struct {
	demand Signal // of all queues of a source: a partition waits for records
	filled Signal // there may be a batch to take
	taken  Signal // a batch was taken

	mu      sync.Mutex
	backlog backlog
	open    bool  // records are accepted
	retake  bool  // the partition must be taken over again
	waiting bool  // Take waits for a batch to be complete, or for records
	paused  bool  // it was full, the client paused the partition, and it has not been half empty since
	end     int64 // all records below were put; -1 if unknown
	version int   // how many times the queue was emptied for a new position

	timeouts int // of Throttle since the queue was last not full; used by the polling goroutine
}

// errRetake ends Take: the partition must be taken over again.
var errRetake = errors.New("the position is in doubt")

// NewQueue returns a queue that is not open. demand is signaled when Take waits.
func NewQueue(limits Limits, demand Signal) *Queue {
	return &Queue{demand: demand, filled: NewSignal(), taken: NewSignal(), backlog: backlog{limits: limits}, end: -1}
}

// Reset drops the records in the queue and returns the version that may be opened.
func (q *Queue) Reset() (version int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop()
	return q.version
}

// Open accepts records from now on, unless the queue was reset or shut since Reset returned
// version: records would then belong to a position that is no longer valid.
func (q *Queue) Open(version int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = version == q.version
}

// Shut drops the records in the queue and accepts none until Open.
func (q *Queue) Shut() { q.Reset() }

// Retake is like Shut, and makes Take return an error. It does nothing if the queue is shut,
// because the partition is then being taken over anyway.
func (q *Queue) Retake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open {
		return
	}
	q.drop()
	q.retake = true
	q.filled.Send()
}

func (q *Queue) drop() {
	q.version++
	q.open, q.retake, q.paused = false, false, false
	q.backlog.drop()
	q.end = -1
}

// Put adds a record. It reports false if the queue is not open. full means that Throttle must be
// called before the next record.
func (q *Queue) Put(m *wire.Message, size int) (accepted, full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open {
		return false, false
	}
	if q.backlog.add(m, size) {
		q.filled.Send()
	}
	q.end = -1
	if full = q.backlog.full(1); !full {
		q.timeouts = 0
	}
	return true, full
}

// ReachedEnd records that the log ends at an offset, and that all records below it were put.
func (q *Queue) ReachedEnd(end int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open {
		q.end = end
	}
}

// End returns where the log ends if all its records were put and taken; otherwise -1.
func (q *Queue) End() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.backlog.batches) > 0 {
		return -1
	}
	return q.end
}

// Starved reports whether Take waits although the log may have records: the client has not
// reported its end.
func (q *Queue) Starved() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open && q.waiting && q.end < 0
}

// Dry reports whether all records were taken, and Take waits for more.
func (q *Queue) Dry() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open && q.waiting && len(q.backlog.batches) == 0
}

// Take waits for a batch. It returns none if the queue has been empty for the duration idle.
// resume means that the client need no longer pause. The batch's memory is returned with Release.
func (q *Queue) Take(ctx context.Context, idle time.Duration) (records []wire.Message, resume bool, err error) {
	timer := time.NewTimer(q.backlog.limits.Wait)
	defer timer.Stop()
	for since := time.Now(); ; {
		records, resume, wait, err := q.tryTake()
		if records != nil || err != nil {
			return records, resume, err
		}
		if wait == 0 {
			if wait = idle - time.Since(since); wait <= 0 {
				return nil, false, nil
			}
		}
		timer.Reset(wait)
		select {
		case <-q.filled:
		case <-timer.C:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// tryTake takes the oldest batch if it is due. Otherwise it returns how long that will take; 0 if
// there is no batch.
func (q *Queue) tryTake() (records []wire.Message, resume bool, wait time.Duration, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = false
	if q.retake {
		return nil, false, 0, errRetake
	}
	records, wait = q.backlog.take()
	if records == nil {
		q.waiting = true
		q.demand.Send()
		return nil, false, wait, nil
	}
	q.taken.Send()
	if q.paused && q.backlog.halfEmpty() {
		q.paused, resume = false, true
	}
	return records, resume, 0, nil
}

// Release returns the memory of a batch that was delivered.
func (q *Queue) Release(records []wire.Message) {
	clear(records)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.backlog.recycle(records)
}

// Limits determine when a batch is complete, and therefore when a queue is full.
type Limits struct {
	Records    int           // that complete a batch
	Bytes      int           // that complete a batch
	Wait       time.Duration // age that completes a batch
	FetchBytes int           // that the client fetches from a partition at a time
}

const (
	// depth is how many complete batches are held while one is delivered, unless bytes end it
	// first.
	depth = 4
	// framing is the number of bytes of a record in a fetch besides its key, value and headers.
	framing = 8
)

// backlog contains the records of one partition that wait for delivery, in batches. It is plain
// data, guarded by the queue's lock.
type backlog struct {
	limits  Limits
	batches []batch // oldest first; only the last one grows
	records int     // of all batches
	bytes   int     // of all batches
	spare   [][]wire.Message
}

type batch struct {
	records []wire.Message
	bytes   int
	since   time.Time // arrival of the first record
}

// add appends a record. It reports whether a batch began or is complete now.
func (b *backlog) add(m *wire.Message, size int) (changed bool) {
	if n := len(b.batches); n == 0 || b.complete(&b.batches[n-1]) {
		b.batches = append(b.batches, batch{records: b.recycled(), since: time.Now()})
		changed = true
	}
	last := &b.batches[len(b.batches)-1]
	last.records = append(b.grown(last.records), *m)
	last.bytes += size
	b.records++
	b.bytes += size
	return changed || b.complete(last)
}

func (b *backlog) complete(last *batch) bool {
	return len(last.records) >= b.limits.Records || last.bytes >= b.limits.Bytes
}

// take removes the oldest batch if it is due. Otherwise it returns how long that will take; 0 if
// there is no batch.
func (b *backlog) take() (records []wire.Message, wait time.Duration) {
	if len(b.batches) == 0 {
		return nil, 0
	}
	first := b.batches[0]
	if wait := b.limits.Wait - time.Since(first.since); wait > 0 && !b.complete(&first) {
		return nil, wait
	}
	b.batches[0] = batch{}
	b.batches = b.batches[1:]
	b.records -= len(first.records)
	b.bytes -= first.bytes
	return first.records, 0
}

// drop removes all records.
func (b *backlog) drop() { b.batches, b.records, b.bytes = nil, 0, 0 }

// full reports whether the backlog is n times full. It always has room for two fetches: the client
// delivers records of other partitions after those of this one, and they must not be delayed too
// long.
func (b *backlog) full(n int) bool {
	return b.records >= n*depth*b.limits.Records && b.bytes+framing*b.records >= 2*n*b.limits.FetchBytes ||
		b.bytes >= n*b.limits.Bytes
}

// halfEmpty reports whether a paused client may resume.
func (b *backlog) halfEmpty() bool {
	return b.records <= depth/2*b.limits.Records && b.bytes <= b.limits.Bytes/2
}

// recycle keeps the memory of a batch that was delivered.
func (b *backlog) recycle(records []wire.Message) {
	if len(b.spare) < depth {
		b.spare = append(b.spare, records[:0])
	}
}

func (b *backlog) recycled() []wire.Message {
	n := len(b.spare)
	if n == 0 {
		return nil
	}
	s := b.spare[n-1]
	b.spare = b.spare[:n-1]
	return s
}

// grown makes room for one more record of a batch that is not complete. Unlike append, it never
// allocates for more records than a batch can have.
func (b *backlog) grown(records []wire.Message) []wire.Message {
	if len(records) < cap(records) {
		return records
	}
	return append(make([]wire.Message, 0, min(max(16, 2*len(records)), b.limits.Records)), records...)
}

// Signal wakes the goroutine that receives from it. Several sends before it wakes count as one.
type Signal chan struct{}

// NewSignal returns a signal that has not been sent.
func NewSignal() Signal { return make(Signal, 1) }

// Send never blocks.
func (s Signal) Send() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// clear discards a send that was not received.
func (s Signal) clear() {
	select {
	case <-s:
	default:
	}
}
