package idem

import (
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Types used in handlers and errors. They are declared in package wire, which this package
// imports, and aliased here, as package os does with types of io/fs.
type (
	// Message is one Kafka record:
	//
	//	Topic       string
	//	Partition   int32
	//	Offset      int64
	//	LeaderEpoch int32     // -1 if unknown
	//	Time        time.Time // the record's timestamp; zero if it has none
	//	Appended    bool      // Time is when the broker appended the record
	//	Key         []byte    // nil if the record has no key
	//	Value       []byte    // nil is a tombstone
	//	Headers     []Header  // in the record's order, repeated names kept
	Message = wire.Message
	// Header is one header of a record:
	//
	//	Name  string
	//	Value []byte // nil is a header without a value
	Header = wire.Header
	// UUID is a UUID. [wire.ParseUUID] makes one from a text. go doc of package wire lists its
	// methods: String and those that encoding packages and pgx call.
	UUID = wire.UUID
	// Decimal is an exact decimal number. In a test, wire.MustDecimal("12.50") makes one;
	// [wire.ParseDecimal] returns an error instead of a panic. It has no arithmetic: pass String()
	// to a decimal library, or compute in SQL. It keeps the digits as written, so == says that 1.0
	// and 1.00 differ. go doc of package wire lists its methods.
	Decimal = wire.Decimal
	// Date is a day without a time. [wire.ParseDate] makes one from YYYY-MM-DD. Time returns the
	// start of the day in UTC, and String the text. Dates compare with < and ==. go doc of package
	// wire lists its methods.
	Date = wire.Date
	// LocalTime is a time of day on a day, without a zone. [wire.ParseLocalTime] makes one from
	// YYYY-MM-DDThh:mm:ss. LocalTimes compare with < and ==. go doc of package wire lists its
	// methods.
	LocalTime = wire.LocalTime
	// Patch is a field that says how to change a value: leave it as it is (PatchAbsent), set it to
	// NULL (PatchNull), or set it to Value (PatchValue).
	Patch[T any] = wire.Patch[T]
	// Key is the identity of an event: a hash of 16 bytes. Its zero value means that the event is
	// identified by its offset. Pass it downstream as an idempotency key.
	Key = wire.Key
	// Tx is the transaction that also records the event. What a handler writes through it commits
	// with the event, or not at all. There is no Commit. go doc of package wire describes each of
	// its methods:
	//
	//	Queue                        sends the statement later, with those of other events
	//	Exec, Query, QueryRow        send it now, and wait for the answer
	//	CopyFrom, SendBatch          as in pgx
	//
	// A callback of Queue runs before the commit and must not use the Tx: that is an error of the
	// call. If an answer decides about the next statement, use Exec. [PgxTx] returns a pgx.Tx for
	// libraries that need one. A Tx is of no use after the handler has returned.
	Tx = wire.Tx
)

// What a [Patch] does.
const (
	PatchAbsent = wire.PatchAbsent // no change: the record does not have the field
	PatchNull   = wire.PatchNull
	PatchValue  = wire.PatchValue
)

// Types that a [Source], handlers and the engine share. They are declared in package idemtype,
// where their documentation is complete.
type (
	// Partition names a partition of a topic.
	Partition = idemtype.Partition
	// Position is where a partition is read from.
	Position = idemtype.Position
	// Commit is an offset that a group commits, with its metadata.
	Commit = idemtype.Commit
	// Assignment is what the broker reports about a partition that was assigned.
	Assignment = idemtype.Assignment
	// TakeOver says when a partition may be taken over again.
	TakeOver = idemtype.TakeOver
	// Source delivers the records of one consumer group; runtime/confluent and runtime/franz
	// implement it.
	Source = idemtype.Source
	// Subscription says what a Source reads and how it forms batches.
	Subscription = idemtype.Subscription
	// Sink is driven by a Source; the Consumer implements it.
	Sink = idemtype.Sink
	// Result counts records by outcome.
	Result = idemtype.Result
	// Delivery describes a call of a handler or an effect; [DeliveryFrom] returns it:
	//
	//	Consumer string
	//	Event    string    // Go name of the event
	//	Key      Key       // pass Key.String() downstream; zero for a handler's event identified by offset
	//	Attempt  int       // 1 for the first call, and for the first after a successful one
	//	Token    int64     // of an effect's lease: greater than all earlier ones of its key; 0 for handlers
	//	Lock     wire.Lock // held by the call: pass Lock.Token downstream; zero without a lock
	//	Message  Message   // the record
	Delivery = idemtype.Delivery
	// HandlerFunc is one call of a handler; [DeliveryFrom] returns its delivery.
	HandlerFunc = idemtype.HandlerFunc
	// Middleware wraps a call. What it writes through tx commits with the event.
	Middleware = idemtype.Middleware
	// FencedError says that this process does not own the partition, or no longer: another owner
	// or an operator appended to its ledger, or it was given up. The transaction that was refused
	// has no effect; earlier ones of the same batch remain. The partition must be taken over
	// before it is written again.
	FencedError = idemtype.FencedError
	// HaltedError says that a partition is halted until an operator acts.
	HaltedError = idemtype.HaltedError
	// Problem is something about a service or a partition that may need an operator.
	Problem = idemtype.Problem
	// Problems are what [Consumer.Health] returns.
	Problems = idemtype.Problems
)
