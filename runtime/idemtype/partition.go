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

// Assignment is what the broker says about a partition that was assigned.
type Assignment struct {
	Partition  Partition
	TopicID    wire.UUID // changes when a topic is deleted and made again
	Partitions int32     // of the topic
	Low, High  int64     // first offset that still exists; offset of the next record to come
	// Committed is the group's committed offset; -1 if there is none. It is asked for only where
	// no ledger decides: the answer waits while the group shares its partitions out.
	Committed func(context.Context) (int64, error)
	// EpochEnd asks where the leader epoch of a position ends in the log. Below the position, the
	// log was cut there: the records that follow are not those that were read. At or after it, the
	// log has what was read. It is -1 if the log knows no such epoch. Nil asks nobody.
	EpochEnd func(context.Context, Position) (int64, error)
	// Last asks for the offset of the next record to come, as High, and for the leader epoch now.
	// Nil asks nobody.
	Last func(context.Context) (Position, error)
}

// TakeOver says when a partition may be taken over again.
type TakeOver struct {
	At  Position // where a record must wait before that; if Now, of no meaning
	Now bool     // at once, whether a record waits or not
}
