package idemtype

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Source delivers the records of one consumer group; runtime/confluent and runtime/franz implement
// it.
type Source interface {
	// Run joins the group and drives sink. When ctx is done, it revokes what it had assigned and
	// returns nil. It returns an error only if an operator must act.
	Run(ctx context.Context, s Subscription, sink Sink) error
}

// Subscription says what a Source reads and how it forms batches.
type Subscription struct {
	Group           string
	Topics          []string
	BatchEvents     int           // records that close a batch
	BatchBytes      int           // bytes of keys, values and headers that close a batch
	BatchWait       time.Duration // age that closes a batch
	MaxPollInterval time.Duration // the client's max.poll.interval.ms
	// Window returns the shortest window of a topic's keys; 0 if it has none. If a topic retains
	// records for longer than that, the Source logs it: duplicates that are read again may arrive
	// after the window of their keys.
	Window func(topic string) time.Duration
}

// Sink is driven by a Source; package idem implements it. Calls for one partition must not
// overlap, except that Revoked and Lost may be called at any time: they end a Deliver or a
// Standby that is waiting. Calls for different partitions may run concurrently.
type Sink interface {
	// Assigned takes the partition over from its previous owner and returns where to read. After a
	// [FencedError] or a [HaltedError] the partition stays assigned but unread, and the Source
	// calls Standby. After any other error the Source calls Assigned again, after a pause, as long
	// as the partition is assigned.
	Assigned(ctx context.Context, a Assignment) (Position, error)
	// Deliver applies records of one partition, in offset order, and returns when they are
	// durable. While it blocks, the Source continues polling with the partition paused. Deliver
	// itself retries what can be retried. After a [FencedError] or a [HaltedError] the Source
	// drops the records of the partition that it holds, and calls Standby. A Deliver that begins
	// while the partition is being given up may come just after Revoked or Lost; it is rejected.
	Deliver(ctx context.Context, p Partition, records []wire.Message) error
	// Idle reports that a partition has had no records for a few seconds, and that all its records
	// below end were delivered; end is -1 if the Source does not know. Idle checks whether the
	// partition still belongs to the sink. After the last record the log may contain transaction
	// markers and aborted records: the position advances over them, so that the topic's retention
	// does not overtake it.
	//
	// A partition may also be idle because the Source waits for a record, as a TakeOver says. Then
	// Idle checks whether that TakeOver is still valid. Idle returns the same errors as Deliver,
	// but waits for an outage only while it is unknown whether a transaction committed: otherwise it
	// returns nil, and Health reports the outage. Idle also carries out what operators request.
	Idle(ctx context.Context, p Partition, end int64) error
	// Standby is called after a [FencedError] or a [HaltedError], while the partition stays
	// assigned. It blocks until the partition may be taken over again: either its ledger has not
	// changed for longer than two transactions may take, or an operator has appended to it.
	//
	// If the TakeOver says so, the Source then waits until a record is available, without keeping
	// it. Then it calls Assigned, which may return a FencedError again. Any error of Standby means
	// that the partition is no longer assigned, or that ctx is done.
	Standby(ctx context.Context, p Partition) (TakeOver, error)
	// Durable returns what the Source commits to Kafka: the offset below which everything is
	// durable, with metadata by which a later take-over finds that the database lost commits. The
	// offset is -1 while it is not known.
	Durable(p Partition) Commit
	// Silent reports since when the client has delivered no records of a partition although its
	// log has some, and why. The zero time reports that this is over. It may be called at any
	// time.
	Silent(p Partition, since time.Time, why string)
	// End reports the offset that the next record to be written to an assigned partition will
	// have, which tells how far behind the partition is. All records that were appended before
	// after are below it; a zero after says nothing. The Source reports it from time to time, even
	// while the partition is not read. It may be called at any time.
	End(p Partition, end int64, after time.Time)
	// Group reports what is wrong with the Source's group. why is nil while the broker responds
	// and the group has assigned its partitions, even if this member has none. Otherwise it says
	// what is wrong, in a text that stays the same as long as the cause does. Until the first call
	// of Group or Assigned, the group counts as not having assigned its partitions. Group may be
	// called at any time.
	Group(why error)
	// Revoked gives up a partition: it waits up to two seconds for the transaction in flight, then
	// cancels it. It returns what Durable would have returned last.
	Revoked(p Partition) Commit
	// Lost is like Revoked but does not wait: another member may own the partition already.
	Lost(p Partition)
}
