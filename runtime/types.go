package idem

import (
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Types that people meet in handlers and errors. They are declared in package wire,
// which this package imports, and named here, as package os does with those of io/fs.
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
	// UUID is a UUID; [wire.ParseUUID] reads its text.
	UUID = wire.UUID
	// Decimal is an exact decimal number; [wire.ParseDecimal] reads its text.
	Decimal = wire.Decimal
	// Date is a day without a time.
	Date = wire.Date
	// LocalTime is a time of day on a day, without a zone.
	LocalTime = wire.LocalTime
	// Patch is a field that says what becomes of a value: it stays as it is (PatchAbsent), it
	// becomes NULL (PatchNull), or it becomes Value (PatchValue).
	Patch[T any] = wire.Patch[T]
	// PatchState is what a Patch does.
	PatchState = wire.PatchState
	// Key is the identity of an event: 16 bytes of a hash. Its zero value means that the
	// event is identified by its offset. Hand it downstream as an idempotency key.
	Key = wire.Key
	// Tx is the transaction that also records the event.
	Tx = wire.Tx
	// DecodeError says why a record cannot be turned into an event.
	DecodeError = wire.DecodeError
	// ConflictError says that an event carries a known key but other content.
	ConflictError = wire.ConflictError
)

// What a [Patch] does.
const (
	PatchAbsent = wire.PatchAbsent // nothing: the record does not hold the field
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
	// Assignment is what the broker says about a partition that was assigned.
	Assignment = idemtype.Assignment
	// TakeOver says when a partition may be taken over again.
	TakeOver = idemtype.TakeOver
	// Source delivers the records of one consumer group; runtime/confluent and runtime/franz
	// implement it.
	Source = idemtype.Source
	// Subscription is what a Source reads and how it cuts batches.
	Subscription = idemtype.Subscription
	// Sink is what a Source drives; the Consumer implements it.
	Sink = idemtype.Sink
	// Result counts what became of records.
	Result = idemtype.Result
	// Delivery is what a handler or an effect was called for; [DeliveryFrom] returns it:
	//
	//	Consumer string
	//	Event    string    // Go name of the event
	//	Key      Key       // hand Key.String() downstream; zero of a handler's event identified by offset
	//	Attempt  int       // 1 for the first call, and for the one after a call that went well
	//	Token    int64     // of an effect's lease: greater than those of its key before; 0 for handlers
	//	Lock     wire.Lock // that the call holds: hand Lock.Token downstream; zero without a lock
	//	Message  Message   // the record
	Delivery = idemtype.Delivery
	// HandlerFunc is one call of a handler; [DeliveryFrom] tells which.
	HandlerFunc = idemtype.HandlerFunc
	// Middleware wraps a call. What it writes through tx commits with the event.
	Middleware = idemtype.Middleware
	// FencedError says that another owner appended to the partition's ledger. Nothing of the
	// batch took effect; the partition must be taken over again before it is written.
	FencedError = idemtype.FencedError
	// HaltedError says that a partition is halted and needs a person.
	HaltedError = idemtype.HaltedError
)
