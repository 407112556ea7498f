package outbox

import "fmt"

// Record is a record of Kafka.
type Record struct {
	Topic   string
	Key     []byte
	Value   []byte // nil is a tombstone
	Headers []Header
}

// Header is a header of a record.
type Header struct {
	Name  string
	Value []byte
}

// Producer sends records to Kafka. There is one in runtime/confluent/producer, and one without cgo
// in runtime/franz/producer.
type Producer interface {
	// Produce hands a record over, and does not wait for it. done is called once, by any
	// goroutine: with nil when all replicas in sync have the record, with a [RefusedError] if the
	// broker refuses this record, and with any other error if it may take it later.
	Produce(r Record, done func(error))
	// Purge gives up all records that are not acknowledged, and calls done for each. Some of them
	// may have reached the broker.
	Purge()
}

// RefusedError says that the broker refuses a record, and took others meanwhile: the record is too
// large, or its topic is unknown or forbidden.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return fmt.Sprintf("the broker refuses it: %v", e.Err) }

// Unwrap is the broker's error.
func (e *RefusedError) Unwrap() error { return e.Err }
