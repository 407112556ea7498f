package member

import (
	"context"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Client is a Kafka client as a member drives it. Its errors end the member, except those of
// Asker.
type Client interface {
	Fetcher
	Asker
	// Close leaves the group. It may hang.
	Close() error
}

// Fetcher says which partitions the client fetches, and from where. Only the polling goroutine
// calls it.
type Fetcher interface {
	// Assign begins to fetch partitions. It is called with none, too: a client that must answer a
	// rebalance answers with it.
	Assign([]At) error
	// Seek moves a partition that was assigned, also if the client gave it up after an error.
	Seek(At) error
	// Pause stops fetching. What was fetched and not polled may be dropped.
	Pause(idemtype.Partition) error
	// Resume ends a pause, if there is one: the client may keep it from an earlier assignment.
	Resume(idemtype.Partition) error
	// Unassign ends fetching. Like Assign, it is called with none, too.
	Unassign([]idemtype.Partition) error
	// End is the end of a log that came with the last fetch; -1 if none did.
	End(idemtype.Partition) int64
}

// Asker asks the brokers. Any goroutine may. Each call takes no longer than Pace.Request.
type Asker interface {
	// Commit commits offsets for the group.
	Commit(context.Context, map[idemtype.Partition]int64) error
	// Committed asks for the group's committed offset, -1 if there is none.
	Committed(context.Context, idemtype.Partition) (int64, error)
	// Topics asks for topic ids and partition counts. A topic that does not exist is left out.
	// Without names it asks the brokers for a sign of life.
	Topics(ctx context.Context, names ...string) (map[string]intake.Topic, error)
	// Watermarks asks for the first offset that still exists, and the next one to come of those
	// that are not in an open transaction.
	Watermarks(context.Context, idemtype.Partition) (low, high int64, err error)
	// EpochEnd is that of an Assignment.
	EpochEnd(context.Context, idemtype.Partition, idemtype.Position) (int64, error)
	// Last is that of an Assignment.
	Last(context.Context, idemtype.Partition) (idemtype.Position, error)
	// Ends asks for the next offsets to come. What is not answered is left out.
	Ends(context.Context, []idemtype.Partition) (map[idemtype.Partition]int64, error)
	// OpenTransaction names the producer of the first transaction that is open; "" if the client
	// cannot ask.
	OpenTransaction(context.Context, idemtype.Partition) string
	// TopicConfig asks for the configuration of a topic.
	TopicConfig(ctx context.Context, topic string) (map[string]string, error)
}

// At is where a partition is to be fetched from.
type At struct {
	Partition idemtype.Partition
	idemtype.Position
	TopicID wire.UUID // that the sink was told
}

// describe asks what the sink must know about a partition.
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
	a.Committed = func(ctx context.Context) (int64, error) { return c.Committed(ctx, id) }
	a.EpochEnd = func(ctx context.Context, at idemtype.Position) (int64, error) { return c.EpochEnd(ctx, id, at) }
	a.Last = func(ctx context.Context) (idemtype.Position, error) { return c.Last(ctx, id) }
	return a, nil
}
