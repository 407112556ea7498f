package intake

import (
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// State is what the polling goroutine knows of a partition.
type State int

// The states of a partition; package intake's page says which follows which.
const (
	TakingOver     State = iota // the sink was asked, or will be; nothing is accepted
	StandingBy                  // the sink says when to ask again, perhaps after hours
	AwaitingRecord              // a record must come before the sink is asked; it is dropped
	Reading                     // the sink told a position
)

// Topic is what the sink was told of a partition's topic.
type Topic struct {
	ID         wire.UUID
	Partitions int32
}

// Report is what a [Delivery] tells the polling goroutine.
type Report struct {
	State   State
	Topic   Topic
	at      idemtype.Position // where to read, if AwaitingRecord or Reading
	leader  int32             // leader epoch of the log with which the sink compared its position
	version int               // of the queue, if Reading
}

// Cursor is how far a partition is polled. It belongs to the polling goroutine.
type Cursor struct {
	State State
	Topic Topic
	// Start is where the client must be told to read.
	Start idemtype.Position
	// Next is the lowest offset that is accepted.
	Next int64
	// Epoch is the leader epoch of the last record, or the one that the sink told before the first;
	// -1 if neither is known.
	Epoch int32

	compared int32 // leader epoch of the log with which the position was compared

	queue   *Queue
	version int  // of the queue
	passed  bool // Next moved past the last record: Epoch may be older than what is before Next
}

// NewCursor is the cursor of a partition that is about to be taken over.
func NewCursor(q *Queue) Cursor { return Cursor{queue: q, Epoch: -1, compared: -1} }

// Apply goes to the state of a report. It reports whether the client must be told to read from
// Start, and Begin called then.
func (c *Cursor) Apply(r Report) (read bool) {
	c.State, c.Topic = r.State, r.Topic
	if read = c.IsRead(); read {
		c.Start, c.version, c.compared = r.at, r.version, max(c.compared, r.leader)
	}
	return read
}

// IsRead reports whether records of the partition are wanted.
func (c *Cursor) IsRead() bool { return c.State == Reading || c.State == AwaitingRecord }

// Begin tells that the client reads from Start.
func (c *Cursor) Begin() {
	c.Next, c.Epoch, c.passed = c.Start.Offset, c.Start.Epoch, false
	if c.State == Reading {
		c.queue.Open(c.version)
	}
}

// BeginAgain moves Start to the next record, where the client must be told to read: it gave
// the partition up, and no record was lost.
func (c *Cursor) BeginAgain() { c.Start = c.At() }

// At is the next record's position, with the leader epoch of what is before it.
func (c *Cursor) At() idemtype.Position {
	if c.passed {
		return idemtype.Position{Offset: c.Next, Epoch: -1}
	}
	return idemtype.Position{Offset: c.Next, Epoch: c.Epoch}
}

// Outcome is what became of a record, or of the end of a log.
type Outcome int

// What may become of a record.
const (
	Dropped  Outcome = iota // it will be read again, or was read before
	Accepted                // it is in the queue
	Full                    // it is in the queue, which must be throttled
	Arrived                 // it was awaited: tell the delivery, and pause the client
	OldEpoch                // its leader epoch is below one before it: another topic's log
	NewEpoch                // the log has a leader that nothing before it was compared with
)

// Accept puts a record into the queue if it is the next one. Offsets may have gaps. A new leader
// may have cut the log below records that are in the queue, or in the ledger: before its first
// record is accepted, the partition is taken over again, which compares the position with its log.
func (c *Cursor) Accept(m *wire.Message, size int) Outcome {
	switch {
	case m.Offset < c.Next:
		return Dropped
	case c.State == AwaitingRecord:
		return c.arrived()
	case c.State != Reading:
		return Dropped
	case m.LeaderEpoch >= 0 && m.LeaderEpoch < c.Epoch:
		c.State = TakingOver // once, and not for each record
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

// ReachedEnd tells that the client has read the log to its end. Between the last record and the
// end may be markers of transactions, records of aborted ones, or gaps. A partition that awaits
// a record is taken over for these, too: its owner must pass them.
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
