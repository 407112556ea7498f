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
}

// TakeOver says when a partition may be taken over again.
type TakeOver struct {
	At  Position // where a record must wait before that; if Now, of no meaning
	Now bool     // at once, whether a record waits or not
}
