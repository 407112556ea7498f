package intake

import (
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// State is what the polling goroutine knows about a partition.
type State int

// The states of a partition. The package documentation shows the transitions.
const (
	TakingOver     State = iota // Assigned of the sink was called, or will be; no record is accepted
	StandingBy                  // Standby of the sink was called, and may take hours
	AwaitingRecord              // a record must arrive before Assigned is called; it is dropped
	Reading                     // the sink returned a position
)

// Topic is what was passed to the sink about a partition's topic.
type Topic struct {
	ID         wire.UUID
	Partitions int32
}

// Report is a message of a [Delivery] to the polling goroutine.
type Report struct {
	State   State
	Topic   Topic
	at      idemtype.Position // where to read, if AwaitingRecord or Reading
	leader  int32             // leader epoch of the log with which the sink compared its position
	version int               // of the queue, if Reading
}

// Cursor is how far a partition has been polled. Only the polling goroutine uses it.
type Cursor struct {
	State State
	Topic Topic
	// Start is the position from which the client must read.
	Start idemtype.Position
	// Next is the lowest offset that is accepted.
	Next int64
	// Epoch is the leader epoch of the last record or, before the first record, the one that the
	// sink returned; -1 if neither is known.
	Epoch int32

	compared int32 // leader epoch of the log with which the position was compared

	queue   *Queue
	version int  // of the queue
	passed  bool // Next moved past the last record: Epoch may be older than the epoch before Next
}

// NewCursor returns the cursor of a partition that is about to be taken over.
func NewCursor(q *Queue) Cursor { return Cursor{queue: q, Epoch: -1, compared: -1} }

// Apply changes to the state of a report. It reports whether the client must now read from Start,
// after which Begin must be called.
func (c *Cursor) Apply(r Report) (read bool) {
	c.State, c.Topic = r.State, r.Topic
	if read = c.IsRead(); read {
		c.Start, c.version, c.compared = r.at, r.version, max(c.compared, r.leader)
	}
	return read
}

// IsRead reports whether records of the partition are wanted.
func (c *Cursor) IsRead() bool { return c.State == Reading || c.State == AwaitingRecord }

// Begin records that the client reads from Start.
func (c *Cursor) Begin() {
	c.Next, c.Epoch, c.passed = c.Start.Offset, c.Start.Epoch, false
	if c.State == Reading {
		c.queue.Open(c.version)
	}
}

// BeginAgain moves Start to the next record, from which the client must read: it stopped reading
// the partition, and no record was lost.
func (c *Cursor) BeginAgain() { c.Start = c.At() }

// At returns the next record's position, with the leader epoch before it.
func (c *Cursor) At() idemtype.Position {
	if c.passed {
		return idemtype.Position{Offset: c.Next, Epoch: -1}
	}
	return idemtype.Position{Offset: c.Next, Epoch: c.Epoch}
}

// Outcome is the outcome for a record, or for the end of a log.
type Outcome int

// The outcomes.
const (
	Dropped  Outcome = iota // it will be read again, or was read before
	Accepted                // it is in the queue
	Full                    // it is in the queue, which must be throttled
	Arrived                 // it was awaited: notify the delivery, and pause the client
	OldEpoch                // its leader epoch is lower than an earlier one: another log, or another topic's
	NewEpoch                // the log has a new leader, with which the position was not compared
)

// Accept puts a record into the queue if it is the next one. Offsets may have gaps. A new leader
// may have truncated the log below records that are in the queue, or in the ledger: before its
// first record is accepted, the partition is taken over again, which compares the position with
// its log. It is also taken over again, with the record's position, if the leader epoch went down.
func (c *Cursor) Accept(m *wire.Message, size int) Outcome {
	switch {
	case m.Offset < c.Next:
		return Dropped
	case c.State == AwaitingRecord:
		return c.arrived()
	case c.State != Reading:
		return Dropped
	case m.LeaderEpoch >= 0 && m.LeaderEpoch < c.Epoch:
		c.State = TakingOver // once, not for each record
		return OldEpoch
	case c.Epoch >= 0 && m.LeaderEpoch > max(c.Epoch, c.compared):
		c.State, c.compared = TakingOver, m.LeaderEpoch
		return NewEpoch
	}
	accepted, full := c.queue.Put(m, size)
	if !accepted {
		return Dropped // the partition is about to be taken over, which sets the position
	}
	c.Next, c.Epoch, c.passed = m.Offset+1, max(c.Epoch, m.LeaderEpoch), false
	if full {
		return Full
	}
	return Accepted
}

// ReachedEnd records that the client has read the log to its end. Between the last record and the
// end there may be transaction markers, aborted records, or gaps. A partition that awaits a record
// is also taken over for these, because the owner must advance over them.
func (c *Cursor) ReachedEnd(end int64) Outcome {
	if !c.IsRead() {
		return Dropped
	}
	c.Next, c.passed = max(c.Next, end), c.passed || end > c.Next
	switch {
	case c.State == Reading:
		c.queue.ReachedEnd(c.Next)
		return Accepted
	case c.Next > c.Start.Offset:
		return c.arrived()
	}
	return Dropped
}

func (c *Cursor) arrived() Outcome {
	c.State = TakingOver
	return Arrived
}
