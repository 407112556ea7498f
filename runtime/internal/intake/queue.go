package intake

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Queue holds records of one partition between the polling goroutine, which puts, and the
// partition's goroutine, which takes batches.
type Queue struct {
	demand Signal // of all queues of a source: a partition waits for records
	filled Signal // there may be a batch to take
	taken  Signal // a batch was taken

	mu      sync.Mutex
	backlog backlog
	open    bool  // records are accepted
	retake  bool  // the partition must be taken over again
	waiting bool  // Take waits for a batch to be complete, or for records
	paused  bool  // it was full, the client was told to pause, and it is not half empty since
	end     int64 // all records below it were put; -1 if that is not known
	version int   // counts how often the queue was emptied for a new position

	timeouts int // of Throttle since the queue was not full; of the polling goroutine
}

// errRetake ends Take: the partition must be taken over again.
var errRetake = errors.New("the position is in doubt")

// NewQueue returns a queue that is not open. demand is sent when Take waits.
func NewQueue(limits Limits, demand Signal) *Queue {
	return &Queue{demand: demand, filled: NewSignal(), taken: NewSignal(), backlog: backlog{limits: limits}, end: -1}
}

// Reset drops what the queue holds and returns the version that may be opened.
func (q *Queue) Reset() (version int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop()
	return q.version
}

// Open accepts records from now on, unless the queue was reset or shut since Reset returned
// version: records that are read then belong to a position that does not count any more.
func (q *Queue) Open(version int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = version == q.version
}

// Shut drops what the queue holds and accepts nothing until Open.
func (q *Queue) Shut() { q.Reset() }

// Retake is Shut, and makes Take return an error. It does nothing if the queue is shut,
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

// Put adds a record. It reports false if the queue is not open; full says that Throttle must
// be called before the next record.
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

// ReachedEnd tells that the log ends at an offset, and that all records below it were put.
func (q *Queue) ReachedEnd(end int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open {
		q.end = end
	}
}

// End is where the log ends if all its records were put and taken; otherwise -1.
func (q *Queue) End() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.backlog.batches) > 0 {
		return -1
	}
	return q.end
}

// Starved reports whether Take waits although the log may have records: the client has not
// said that it ends.
func (q *Queue) Starved() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open && q.waiting && q.end < 0
}

// Dry reports whether all that was put is taken, and Take waits for more.
func (q *Queue) Dry() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.open && q.waiting && len(q.backlog.batches) == 0
}

// Take waits for a batch, and returns none if the queue is empty for as long as idle. resume
// tells that the client need not pause any more. The batch's memory goes back with Release.
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

// tryTake takes the oldest batch if it is due. Otherwise it says how long that will take; 0 if
// there is none.
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

// Release gives back the memory of a batch that was delivered.
func (q *Queue) Release(records []wire.Message) {
	clear(records)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.backlog.recycle(records)
}
