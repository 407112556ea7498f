package member

import (
	"context"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Client is the Kafka client of a member. Its errors end the member, except those of Asker.
type Client interface {
	Fetcher
	Asker
	// Close leaves the group. It may block forever.
	Close() error
}

// Fetcher controls which partitions the client fetches, and from where. Only the polling goroutine
// calls it.
type Fetcher interface {
	// Assign begins to fetch partitions. It is also called without partitions, because some
	// clients must call it to acknowledge a rebalance.
	Assign([]At) error
	// Seek moves an assigned partition, even if the client stopped fetching it after an error.
	Seek(At) error
	// Pause stops fetching. Records that were fetched but not polled may be dropped.
	Pause(idemtype.Partition) error
	// Resume ends a pause, if there is one; the client may keep a pause from an earlier
	// assignment.
	Resume(idemtype.Partition) error
	// Unassign stops fetching. Like Assign, it is also called without partitions.
	Unassign([]idemtype.Partition) error
	// End returns the end of a log as of the last fetch; -1 if unknown.
	End(idemtype.Partition) int64
}

// Asker queries the brokers. Any goroutine may call it. Each call takes at most Pace.Request.
type Asker interface {
	// Commit commits offsets for the group.
	Commit(context.Context, map[idemtype.Partition]idemtype.Commit) error
	// Committed returns what the group has committed for partitions of a topic, by number.
	Committed(ctx context.Context, topic string, partitions []int32) (map[int32]idemtype.Commit, error)
	// Topics returns topic ids and partition counts. A topic that does not exist is left out.
	// Without names it only checks that a broker responds.
	Topics(ctx context.Context, names ...string) (map[string]intake.Topic, error)
	// Watermarks returns the first offset that still exists, and the end of the log before the
	// first open transaction.
	Watermarks(context.Context, idemtype.Partition) (low, high int64, err error)
	// EpochEnd is EpochEnd of an Assignment.
	EpochEnd(context.Context, idemtype.Partition, idemtype.Position) (int64, error)
	// Last is Last of an Assignment.
	Last(context.Context, idemtype.Partition) (idemtype.Position, error)
	// Ends returns the offsets of the next records to be written. Partitions without a response
	// are left out.
	Ends(context.Context, []idemtype.Partition) (map[idemtype.Partition]int64, error)
	// OpenTransaction describes the producer of the first open transaction; "" if the client
	// cannot query it.
	OpenTransaction(context.Context, idemtype.Partition) string
	// TopicConfig returns the configuration of a topic.
	TopicConfig(ctx context.Context, topic string) (map[string]string, error)
}

// At is where to fetch a partition from.
type At struct {
	Partition idemtype.Partition
	idemtype.Position
	TopicID wire.UUID // that was passed to the sink
}

// describe queries what the sink must know about a partition.
func describe(ctx context.Context, c Asker, id idemtype.Partition) (idemtype.Assignment, error) {
	a := idemtype.Assignment{Partition: id}
	topics, err := c.Topics(ctx, id.Topic)
	if err != nil {
		return a, err
	}
	found, ok := topics[id.Topic]
	if !ok {
		return a, missing(id.Topic)
	}
	a.TopicID, a.Partitions = found.ID, found.Partitions
	if a.Low, a.High, err = c.Watermarks(ctx, id); err != nil {
		return a, err
	}
	a.Committed = func(ctx context.Context) (idemtype.Commit, error) {
		of, err := c.Committed(ctx, id.Topic, []int32{id.Number})
		if err != nil {
			return idemtype.NoCommit, err
		}
		return of[id.Number], nil
	}
	a.Others = func(ctx context.Context) (map[int32]idemtype.Commit, error) {
		var all []int32
		for number := range found.Partitions {
			all = append(all, number)
		}
		return c.Committed(ctx, id.Topic, all)
	}
	a.EpochEnd = func(ctx context.Context, at idemtype.Position) (int64, error) { return c.EpochEnd(ctx, id, at) }
	a.Last = func(ctx context.Context) (idemtype.Position, error) { return c.Last(ctx, id) }
	return a, nil
}
