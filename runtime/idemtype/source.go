package idemtype

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Source delivers the records of one consumer group; runtime/confluent and runtime/franz implement
// it.
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
	// Window is how long the keys of a topic are known, those with the shortest window; 0 if it has
	// none. A Source that finds a topic that keeps records for longer says so in the log: copies
	// that are read again may come after the window of their keys.
	Window func(topic string) time.Duration
}

// Sink is what a Source drives; package idem implements it. Calls for one partition must not
// overlap, except that Revoked and Lost may come at any time: they end a Deliver or a Standby
// that waits. Calls for different partitions may run at the same time.
type Sink interface {
	// Assigned takes the partition over from its previous owner and tells where to read.
	// After a [FencedError] or a [HaltedError] the partition stays assigned and unread, and
	// the Source calls Standby. After any other error it asks again, with a pause, while the
	// partition is assigned.
	Assigned(ctx context.Context, a Assignment) (Position, error)
	// Deliver applies records of one partition, in offset order, and returns when they are
	// durable. While it blocks, the Source goes on polling with the partition paused. It
	// retries what can be retried itself. After a [FencedError] or a [HaltedError] the Source
	// drops what it holds of the partition and calls Standby. A Deliver that begins while the
	// partition is given up may come just after Revoked or Lost, and is refused.
	Deliver(ctx context.Context, p Partition, records []wire.Message) error
	// Idle tells that a partition had no record for a few seconds, and that all its records
	// below end were delivered; end is -1 if the Source does not know. Idle checks whether the
	// partition still belongs to the sink. After the last record the log may hold markers of
	// transactions and aborted records: the position follows over them, so that the topic's
	// retention does not overtake it.
	//
	// A partition may also be idle because the Source waits for a record, as a TakeOver says.
	// Then Idle checks whether that TakeOver still holds. Errors are those of Deliver, but Idle
	// does not wait: in an outage it returns nil, and Health tells of the outage.
	Idle(ctx context.Context, p Partition, end int64) error
	// Standby is called after a [FencedError] or a [HaltedError], while the partition stays
	// assigned. It blocks until the partition may be taken over again: its ledger did not move
	// for longer than two transactions may take, or an operator appended to it.
	//
	// If the TakeOver says so, the Source then waits until a record is there; it keeps none.
	// Then it calls Assigned, which may answer with a FencedError again. Any error of Standby
	// means that the partition is not assigned any more, or that ctx has ended.
	Standby(ctx context.Context, p Partition) (TakeOver, error)
	// Durable is the offset below which everything is durable: the hint to commit to Kafka.
	// It is -1 while that is not known.
	Durable(p Partition) int64
	// Silent reports since when no records of a partition arrive although its log has some, and
	// why; the zero time reports that this is over. It may be called at any time.
	Silent(p Partition, since time.Time, why string)
	// End tells the offset of the next record to come of an assigned partition, and with that
	// how far behind the partition is. The Source tells it now and then, also while the
	// partition is not read. It may be called at any time.
	End(p Partition, end int64)
	// Group tells what is wrong with the Source's group. It is nil while the broker answers and
	// the group has shared its partitions out, even if none is left for this member. Otherwise it
	// says why that is not so, in words that stay the same while the cause does. Before the first
	// call, or the first Assigned, the group has shared nothing out. It may be called at any
	// time.
	Group(why error)
	// Revoked gives a partition up: it waits up to two seconds for the transaction in
	// flight, then cancels it.
	Revoked(p Partition)
	// Lost is Revoked without waiting, for a partition that another member may own already.
	Lost(p Partition)
}
