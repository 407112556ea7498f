package idemtype

import (
	"context"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Partition names a partition of a topic.
type Partition struct {
	Topic  string
	Number int32
}

// Position is where a partition is read from.
type Position struct {
	Offset int64
	Epoch  int32 // leader epoch of the record before Offset; -1 if unknown
}

// Commit is an offset that a group commits, with the metadata that Kafka keeps beside it.
type Commit struct {
	Offset   int64 // everything below is durable; -1 if there is none, or it is not known
	Metadata string
}

// NoCommit is the Commit of a partition without one.
var NoCommit = Commit{Offset: -1}

// Assignment is what the broker reports about a partition that was assigned.
type Assignment struct {
	Partition  Partition
	TopicID    wire.UUID // changes when a topic is deleted and recreated
	Partitions int32     // of the topic
	Low, High  int64     // first offset that still exists; offset of the next record to be written
	// Committed returns what the group has committed. It blocks while the group assigns its
	// partitions.
	Committed func(context.Context) (Commit, error)
	// Others returns what the group has committed for the partitions of the topic, by number. It may
	// be nil.
	Others func(context.Context) (map[int32]Commit, error)
	// EpochEnd returns where the leader epoch of a position ends in the log. If that is below the
	// position, the log was truncated there: the records that follow are not those that were read.
	// If it is at or after the position, the log still has what was read. EpochEnd returns -1 if
	// the log does not know the epoch. If EpochEnd is nil, this is not checked.
	EpochEnd func(context.Context, Position) (int64, error)
	// Last returns the offset of the next record to be written, also if a transaction is open, and
	// the current leader epoch. It may be nil.
	Last func(context.Context) (Position, error)
	// Older is a record that the client has delivered, with a leader epoch below that of the position
	// from which it was read; nil if it has not since Assigned was called last.
	Older *Position
}

// TakeOver says when a partition may be taken over again.
type TakeOver struct {
	At  Position // where a record must be waiting first; without meaning if Now is true
	Now bool     // immediately, whether or not a record is waiting
}
