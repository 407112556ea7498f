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
	// Retention is how long each topic keeps records at most, as the spec assumes
	// (assume.retention); topics of which it says nothing are left out. A Source that finds a
	// topic that keeps them for longer says so in the log: copies that are read again may come
	// after the window of their keys.
	Retention map[string]time.Duration
}

// Assignment is what the broker says about a partition that was assigned.
type Assignment struct {
	Partition  Partition
	TopicID    UUID  // changes when a topic is deleted and made again
	Partitions int32 // of the topic
	Low, High  int64 // first offset that still exists; offset of the next record to come
	// Committed is the group's committed offset; -1 if there is none. It is asked for only where
	// no ledger decides: the answer waits while the group shares its partitions out.
	Committed func(context.Context) (int64, error)
}

// Position is where a partition is read from.
type Position struct {
	Offset int64
	Epoch  int32 // leader epoch of the record before Offset; -1 if unknown
}

// Turn says when a partition is taken over again.
type Turn struct {
	At  Position // where a record must wait before that; if Now, of no meaning
	Now bool     // at once, whether a record waits or not
}

// Sink is what a Source drives; the runtime implements it. Calls for one partition
// must not overlap, but for Revoked and Lost, which end a Deliver or a Standby that waits; calls for
// different partitions may run at the same time.
type Sink interface {
	// Assigned takes the partition over from its previous owner and tells where to read.
	// After a [FencedError] or a [HaltedError] the partition stays assigned and unread, and
	// the Source calls Standby. After any other error it asks again, with a pause, while the
	// partition is assigned.
	Assigned(ctx context.Context, a Assignment) (Position, error)
	// Deliver applies records of one partition, in offset order, and returns when they are
	// durable. While it blocks, the Source goes on polling with the partition paused. It
	// retries what can be retried itself. After a [FencedError] or a [HaltedError] the Source
	// drops what it holds of the partition and calls Standby.
	Deliver(ctx context.Context, p Partition, records []Message) error
	// Idle tells that a partition had no record for a few seconds, and that all its records
	// below end were delivered; end is -1 if the Source does not know. It asks whether the
	// partition is still the sink's. Behind the last record the log may hold markers of
	// transactions and aborted records: the position follows over them, so that the topic's
	// retention does not overtake it. For a partition for which the Source waits for a
	// record, as a Turn says, Idle asks whether the turn is still right. Errors are those of
	// Deliver, but Idle does not wait: of an outage only Health tells, and nil is the answer.
	Idle(ctx context.Context, p Partition, end int64) error
	// Standby is called after a [FencedError] or a [HaltedError], while the partition stays
	// assigned. It blocks until the partition may be taken over again: because its ledger
	// stood still for longer than two transactions may take, or because an operator appended
	// to it. Then the Source has a record wait, if the Turn says so, of which it keeps
	// nothing, and calls Assigned, which may well answer with a FencedError again. Any error
	// of Standby means that the partition is not assigned any more, or that ctx has ended.
	Standby(ctx context.Context, p Partition) (Turn, error)
	// Durable is the offset below which everything is durable: the hint to commit to Kafka.
	// It is -1 while that is not known.
	Durable(p Partition) int64
	// Silent tells since when the client hands over no records of a partition although its log
	// has some; the zero time tells that this is over. It may be called at any time.
	Silent(p Partition, since time.Time)
	// End tells the offset of the next record to come of a partition that is assigned, of
	// which the Source hears now and then, also while it is not read: how far behind it is. It
	// may be called at any time.
	End(p Partition, end int64)
	// Group tells how the Source stands to its group: nil while the broker answers and the
	// group has shared its partitions out, of which none may be left for this member; else
	// why that is not so, in words that are the same while the cause is. Until it is called
	// first, or a partition is assigned, the group has shared nothing out. It may be called at
	// any time.
	Group(why error)
	// Revoked gives a partition up: it waits up to two seconds for the transaction in
	// flight, then cancels it.
	Revoked(p Partition)
	// Lost is Revoked without waiting, for a partition that another member may own already.
	Lost(p Partition)
}
