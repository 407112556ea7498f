package idem

import "github.com/idemgen/idemgen/runtime/wire"

// Types that people meet in handlers and errors. They are declared in package wire,
// which this package imports, and named here, as package os does with those of io/fs.
type (
	// Message is one Kafka record.
	Message = wire.Message
	// Header is one header of a record.
	Header = wire.Header
	// UUID is a UUID; ParseUUID reads its text.
	UUID = wire.UUID
	// Decimal is an exact decimal number; ParseDecimal reads its text.
	Decimal = wire.Decimal
	// Date is a day without a time.
	Date = wire.Date
	// LocalTime is a time of day on a day, without a zone.
	LocalTime = wire.LocalTime
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

// ParseUUID reads the 36-character text of a UUID, in any case.
func ParseUUID(text string) (UUID, error) { return wire.ParseUUID(text) }

// ParseDecimal reads a decimal number, without rounding.
func ParseDecimal(text string) (Decimal, error) { return wire.ParseDecimal(text) }
