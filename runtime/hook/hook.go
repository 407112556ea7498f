// Package hook says what a service can hear of its partitions: for metrics, traces and
// audits. A hook is any value that has one or more of the methods of this package's
// interfaces; WithHooks of package idem takes hooks. The runtime asks once, at the start, which
// methods each one has, and what no hook asks for costs nothing.
//
// No method gets a payload, a key or a header, but from the context of OnCallStart: there
// idem.DeliveryFrom knows the record. idemtype.Partition is idem.Partition, and idemtype.Result is
// idem.Result.
//
// OnUpkeep is called on the goroutine of the upkeep, OnCallStart and OnCall on one of their call,
// every other method on a goroutine of its partition. That goroutine waits for it: a method must
// return soon.
// OnEvents and OnDeadLetter even keep a connection of the pool while they run. A method must not
// call Consumer.Close, which waits for the method.
//
// The methods of one partition are called one after another, except OnState,
// OnCallStart and OnCall. A
// partition that is given up while a batch is on its way calls OnState at once, while another of
// its methods may run. Calls of effects end side by side, and beside the partition's batches.
// Methods of different partitions may run at the same time, and OnUpkeep beside all of them.
//
// A method must not panic. If it does, the runtime logs it, once for each hook and method, and
// goes on: the batch, the next hook and the next call of this one are as if it had returned.
//
// A value with a method of a name below and another signature is refused. An interface never
// gets a second method: what comes later is an interface of its own.
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

// BatchStart is called before a batch is applied: before each try of the records that a Source
// delivers, and in each call of Writer.Apply.
type BatchStart interface {
	// OnBatchStart may return a context that carries a span; handlers and OnBatchEnd get it.
	// It must return ctx or a context that was made from it. After nil or a panic the batch
	// has the context that it had.
	OnBatchStart(ctx context.Context, p idemtype.Partition, records int) context.Context
}

// BatchEnd is called when a batch is durable, or failed.
type BatchEnd interface {
	// OnBatchEnd gets what became of the records. An error is the one for which the rest is
	// tried again, or for which the partition is halted. What r counts is durable also then.
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
	Waiting   Outcome = "waiting"   // it waits behind a dead letter of its record key
)

// DeadLetter is called for each record that became a dead letter.
type DeadLetter interface {
	// OnDeadLetter is called once the dead letter is durable.
	OnDeadLetter(p idemtype.Partition, d Letter)
}

// Letter is a dead letter.
type Letter struct {
	Offset int64
	Event  string // Go name; "" if the record is none that the spec knows
	// Reason is as in idem_dead_letter.reason. The only value of the record that the runtime
	// puts into it is an event type that the spec does not name. If a handler returned an error,
	// its text is there as it is: keep values out of it.
	Reason   string
	Conflict bool // a known key with other content
}

// State is called when a partition goes from one state to another.
type State interface {
	// OnState gets the two states, and why the partition makes no progress; nil while it does.
	// Steps of one partition are told one after another: from is the to of the step before.
	//
	//	OFF      it is not assigned
	//	FENCING  it is taken over
	//	READY    it works; with a batch on its way, which is not told, Stats says SENT
	//	DOUBT    nobody knows yet whether a transaction committed
	//	STANDBY  another owner works on it
	//	BACKOFF  the database lacks disk, memory or connections
	//	HALTED   a person must act
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

// Retry is called before a partition waits to try a batch again. Writer.Apply never waits.
type Retry interface {
	OnRetry(p idemtype.Partition, r Pause)
}

// Pause is the wait before the next try of a batch.
type Pause struct {
	Try  int           // 1 before the second try
	Wait time.Duration // at least; while the database is away it is longer
	Err  error         // of the last try
}

// CallStart is called before the Go method of an effect is called.
type CallStart interface {
	// OnCallStart may return a context that carries a span; the Go method and OnCall get it. It must
	// return ctx or a context that was made from it. After nil or a panic the call has the context
	// that it had.
	OnCallStart(ctx context.Context, p idemtype.Partition) context.Context
}

// Call is called when a call of an effect has ended, and what came of it is recorded or dropped.
type Call interface {
	OnCall(ctx context.Context, p idemtype.Partition, c Ended)
}

// Ended is a call of an effect that has ended.
type Ended struct {
	Offset  int64 // of the record
	Event   string
	Attempt int           // 1 for the first call that counts
	Took    time.Duration // by the Go method
	Outcome CallOutcome
	Err     error // what the method returned, or how it ended; nil if it was done
}

// CallOutcome is what became of a call.
type CallOutcome string

// The outcomes of calls.
const (
	CallDone        CallOutcome = "done"        // its result is recorded
	CallFailed      CallOutcome = "failed"      // it did nothing; the next call, or a dead letter
	CallInterrupted CallOutcome = "interrupted" // nobody knows what it did: a dead letter
	CallLost        CallOutcome = "lost"        // it lost its lease: what it returned was dropped
)

// Upkeep is called after each run of the upkeep of the runtime's tables. One process of a
// consumer does it at a time: in the others it is not called.
type Upkeep interface {
	// OnUpkeep gets how long the run took, and its error. Errors are in the log, too.
	OnUpkeep(took time.Duration, err error)
}
