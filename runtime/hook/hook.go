// Package hook says what a service can hear of its partitions: for metrics, traces and
// audits. A hook is any value that has one or more of the methods of this package's
// interfaces; WithHooks of package idem takes hooks. The runtime asks once, at the start, which
// methods each one has, and what no hook asks for costs nothing.
//
// No method gets a payload, a key or a header. A method is called on the goroutine of its
// partition, which waits for it: it must return soon, and it must not panic. Methods of
// different partitions may run at the same time. An interface never gets a second method:
// what comes later is an interface of its own.
//
// What happened in a transaction is told after its commit, at most once: a process that dies
// between the two tells nothing. The ledger is the truth, not what a hook counted.
//
// This package must not import any package of this module but idemtype.
package hook

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// Hook is any value that has at least one method of this package's interfaces.
type Hook any

// BatchStart is called before a batch is applied.
type BatchStart interface {
	// OnBatchStart may return a context that carries a span; handlers and OnBatchEnd get it.
	// It must return ctx or a context that was made from it.
	OnBatchStart(ctx context.Context, p idemtype.Partition, records int) context.Context
}

// BatchEnd is called when a batch is durable, or failed.
type BatchEnd interface {
	// OnBatchEnd gets what became of the records. An error is the one for which the rest is
	// tried again, or for which the partition stands. What r counts is durable also then.
	OnBatchEnd(ctx context.Context, p idemtype.Partition, r idemtype.Result, err error)
}

// Events is called with what became of each event.
type Events interface {
	// OnEvents gets the events of one transaction, once it is durable, in the order of their
	// offsets. Records that Kafka delivered again are not among them: nobody decodes them.
	// The slice must not be changed or kept.
	OnEvents(p idemtype.Partition, events []Event)
}

// Event is one record of a transaction that is durable.
type Event struct {
	Offset  int64
	Name    string // Go name of the event; "" if the record is none that the spec knows
	Outcome Outcome
}

// Outcome is what became of an event.
type Outcome string

// The outcomes.
const (
	Applied   Outcome = "applied"   // it took effect
	Duplicate Outcome = "duplicate" // the producer had sent it before
	Ignored   Outcome = "ignored"   // it was passed over, as the spec says
	Conflict  Outcome = "conflict"  // a dead letter: a known key with other content
	Dead      Outcome = "dead"      // any other dead letter
)

// DeadLetter is called for each record that became a dead letter.
type DeadLetter interface {
	// OnDeadLetter is called once the dead letter is durable.
	OnDeadLetter(p idemtype.Partition, d Letter)
}

// Letter is a dead letter.
type Letter struct {
	Offset   int64
	Event    string // Go name; "" if the record is none that the spec knows
	Reason   string // as in idem_dead_letter.reason: never a value of the record
	Conflict bool   // a known key with other content
}

// State is called when a partition goes from one state to another.
type State interface {
	// OnState gets the states as Stats names them, and why the partition makes no progress;
	// nil while it does. From READY to SENT and back a partition goes with each batch: that is
	// not told. Steps of one partition are told one after another, in their order.
	OnState(p idemtype.Partition, from, to string, why error)
}

// TakeOver is called when a partition was taken over, before its first record.
type TakeOver interface {
	OnTakeOver(p idemtype.Partition, t Taken)
}

// Taken is a take-over.
type Taken struct {
	Offset int64         // of the next record to apply
	Keys   int           // that were loaded from the partition's ledger
	Took   time.Duration // by the try that succeeded
}

// Retry is called before a partition waits in order to try a batch again.
type Retry interface {
	OnRetry(p idemtype.Partition, r Pause)
}

// Pause is the wait before the next try of a batch.
type Pause struct {
	Try  int           // 1 before the second try
	Wait time.Duration // at least; while the database is away it is longer
	Err  error         // of the last try
}

// Upkeep is called after each run of the upkeep of the runtime's tables. One process of a
// consumer does it at a time: in the others it is not called.
type Upkeep interface {
	// OnUpkeep gets how long the run took, and its error. Errors are in the log, too.
	OnUpkeep(took time.Duration, err error)
}
