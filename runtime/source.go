package idem

import (
	"context"
	"time"
)

// Partition names a partition of a topic.
type Partition struct {
	Topic  string
	Number int32
}

// Source delivers the records of one consumer group; runtime/confluent implements it.
type Source interface {
	// Run joins the group, drives sink and returns nil when ctx has ended, after
	// revoking what it had assigned. Any other return is an error that needs a person.
	Run(ctx context.Context, s Subscription, sink Sink) error
}

// Subscription is what a Source reads and how it cuts batches.
type Subscription struct {
	Group           string
	Topics          []string
	BatchEvents     int           // records that close a batch
	BatchBytes      int           // bytes of keys, values and headers that close a batch
	BatchWait       time.Duration // age that closes a batch
	MaxPollInterval time.Duration // the client's max.poll.interval.ms
}

// Assignment is what the broker says about a partition that was assigned.
type Assignment struct {
	Partition  Partition
	TopicID    UUID  // changes when a topic is deleted and made again
	Partitions int32 // of the topic
	Low, High  int64 // first offset that still exists; offset of the next record to come
	Committed  int64 // the group's committed offset; -1 if there is none
}

// Position is where a partition is read from.
type Position struct {
	Offset int64
	Epoch  int32 // leader epoch of the record before Offset; -1 if unknown
}

// Sink is what a Source drives; the runtime implements it. Calls for one partition
// must not overlap, but for Revoked and Lost, which end a Deliver that waits; calls for
// different partitions may run at the same time.
type Sink interface {
	// Assigned takes the partition over from its previous owner and tells where to read.
	// A [HaltedError] needs a person: the partition stays assigned and unread. After any
	// other error the Source asks again, with a pause, while the partition is assigned.
	Assigned(ctx context.Context, a Assignment) (Position, error)
	// Deliver applies records of one partition, in offset order, and returns when they are
	// durable. While it blocks, the Source goes on polling with the partition paused. It
	// retries what can be retried itself. After a [FencedError] the Source drops what it
	// holds of the partition, waits 10 seconds and, if the partition is still assigned, calls
	// Assigned again and reads from there. After a [HaltedError] the partition stays unread.
	Deliver(ctx context.Context, p Partition, records []Message) error
	// Durable is the offset below which everything is durable: the hint to commit to Kafka.
	// It is -1 while that is not known.
	Durable(p Partition) int64
	// Revoked gives a partition up: it waits up to two seconds for the transaction in
	// flight, then cancels it.
	Revoked(p Partition)
	// Lost is Revoked without waiting, for a partition that another member may own already.
	Lost(p Partition)
}
