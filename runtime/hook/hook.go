// Package hook defines the callbacks by which a service observes its partitions, for metrics,
// traces and audits. A hook is any value with one or more of the methods of this package's
// interfaces; pass hooks to WithHooks of package idem. The runtime determines once, at the start,
// which methods each hook has. A method that no hook has costs nothing.
//
// Hooks do not see payloads, keys or headers, with one exception: in OnCallStart,
// idem.DeliveryFrom(ctx) returns the record. idemtype.Partition is idem.Partition, and
// idemtype.Result is idem.Result.
//
// OnUpkeep is called on the goroutine of the upkeep, OnCallStart and OnCall on a goroutine of
// their call, and every other method on a goroutine of its partition. That goroutine is blocked
// until the method returns, so a method must return soon. OnEvents and OnDeadLetter also occupy a
// connection of the pool while they run. A method must not wait for Consumer.Run to return,
// which waits for the method.
//
// The methods of one partition are called one after another, except OnState, OnCallStart and
// OnCall. If a partition is given up while a batch is in flight, OnState is called immediately,
// even while another method of that partition is running. Calls of effects may end concurrently
// with each other and with the partition's batches. Methods of different partitions may run
// concurrently, and OnUpkeep concurrently with all of them.
//
// A method must not panic. If it does, the runtime logs the panic, once for each hook and method,
// and continues as if the method had returned: with the batch, with the next hook, and with later
// calls of the same method.
//
// A value that has a method with one of the names below but another signature is rejected. No
// method will ever be added to one of these interfaces: a new callback will be a new interface.
//
// The outcomes of a transaction are reported after its commit, and at most once: a process that
// dies in between reports nothing. Do not audit by what a hook counted; query the ledger.
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

// BatchStart is called before a batch is applied: before each attempt to apply records that a
// Source delivers, and in each call of idemtest.Writer.Apply. It is not called for the
// transactions in which dead letters are replayed and parked records are applied.
type BatchStart interface {
	// OnBatchStart may return a context that carries a span, which is passed to handlers and to
	// OnBatchEnd. It must return ctx or a context derived from it. If it returns nil or panics,
	// the batch keeps its context.
	OnBatchStart(ctx context.Context, p idemtype.Partition, records int) context.Context
}

// BatchEnd is called when a batch is durable or has failed.
type BatchEnd interface {
	// OnBatchEnd receives the outcomes of the records. err is the error for which the rest is
	// retried, or for which the partition is halted. What r counts is durable even then.
	OnBatchEnd(ctx context.Context, p idemtype.Partition, r idemtype.Result, err error)
}

// Events is called with the outcome of each event.
type Events interface {
	// OnEvents receives the events of one transaction, once it is durable, in offset order.
	// Records that Kafka delivered again are not included, because they are not decoded. OnEvents
	// must not modify or retain the slice.
	OnEvents(p idemtype.Partition, events []Event)
}

// Event is one record of a transaction that is durable.
type Event struct {
	Offset  int64
	Name    string // Go name of the event; "" if the record is not an event of the spec
	Outcome Outcome
}

// Outcome is the outcome of an event.
type Outcome string

// The outcomes.
const (
	Applied   Outcome = "applied"   // it took effect
	Duplicate Outcome = "duplicate" // the producer had sent the event before
	Ignored   Outcome = "ignored"   // it was skipped, as the spec says
	Conflict  Outcome = "conflict"  // a dead letter: known key, different content
	Dead      Outcome = "dead"      // any other dead letter
	Waiting   Outcome = "waiting"   // it is parked behind a dead letter of its record key
)

// DeadLetter is called for each record that became a dead letter.
type DeadLetter interface {
	// OnDeadLetter is called once the dead letter is durable.
	OnDeadLetter(p idemtype.Partition, d Letter)
}

// Letter is a dead letter.
type Letter struct {
	Offset int64
	Event  string // Go name; "" if the record is not an event of the spec
	// Reason is as in idem_dead_letter.reason. The only values of the record that the runtime puts
	// into it are an event type or enum number that is unknown, and, if a header is missing, the
	// names of the others. If a handler returned an error, Reason contains the beginning of its text:
	// keep values of records out of such errors.
	Reason   string
	Conflict bool // known key, different content
}

// State is called when the state of a partition changes.
type State interface {
	// OnState receives the two states, and why the partition makes no progress; why is nil while
	// it does. The changes of one partition are reported one after another: from is the to of the
	// previous one.
	//
	//	OFF      it is not assigned
	//	FENCING  it is being taken over
	//	READY    it works, or retries a batch, of which Stats and Health say RETRYING
	//	DOUBT    it is not yet known whether a transaction committed
	//	STANDBY  another owner has it
	//	BACKOFF  the database lacks disk, memory or connections
	//	HALTED   an operator must act
	//	PAUSED   an operator stopped it for a while
	OnState(p idemtype.Partition, from, to string, why error)
}

// TakeOver is called when a partition has been taken over, before its first record.
type TakeOver interface {
	OnTakeOver(p idemtype.Partition, t Taken)
}

// Taken describes a take-over.
type Taken struct {
	Offset int64         // of the next record to apply
	Keys   int           // number of keys loaded from the partition's ledger
	Took   time.Duration // duration of the attempt that succeeded
}

// Retry is called before a partition waits to retry a batch. idemtest.Writer.Apply never waits.
type Retry interface {
	OnRetry(p idemtype.Partition, r Pause)
}

// Pause is the wait before the next attempt to apply a batch.
type Pause struct {
	Try  int           // 1 before the second attempt
	Wait time.Duration // the minimum; while the database is down the wait is longer
	Err  error         // of the last attempt
}

// CallStart is called before the Go method of an effect is called.
type CallStart interface {
	// OnCallStart may return a context that carries a span, which is passed to the Go method and
	// to OnCall. It must return ctx or a context derived from it. If it returns nil or panics, the
	// call keeps its context.
	OnCallStart(ctx context.Context, p idemtype.Partition) context.Context
}

// Call is called when a call of an effect has ended, and its outcome has been recorded or dropped.
type Call interface {
	OnCall(ctx context.Context, p idemtype.Partition, c Ended)
}

// Ended describes a call of an effect that has ended.
type Ended struct {
	Offset  int64 // of the record
	Event   string
	Attempt int           // 1 for the first call that counts
	Took    time.Duration // duration of the Go method
	Outcome CallOutcome
	Err     error // what the method returned, or how it ended; nil if it succeeded
}

// CallOutcome is the outcome of a call.
type CallOutcome string

// The outcomes of calls.
const (
	CallDone        CallOutcome = "done"        // its result is recorded
	CallFailed      CallOutcome = "failed"      // it did nothing, or may be repeated whatever it did: it is retried, or given up as on_failure says
	CallInterrupted CallOutcome = "interrupted" // what it did is unknown: an operator decides
	CallLost        CallOutcome = "lost"        // it lost its lease, or the lease could not be queried: its result was dropped
)

// Upkeep is called after each run of the upkeep of the runtime's tables. Only one process of a
// consumer runs the upkeep at a time. In the other processes OnUpkeep is called only with an
// error, if they cannot find out whether it is their turn.
type Upkeep interface {
	// OnUpkeep receives the duration of the run and its error. Errors are also logged.
	OnUpkeep(took time.Duration, err error)
}
