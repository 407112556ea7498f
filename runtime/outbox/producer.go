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
	// Produce passes a record on, and does not wait for it. done is called once, by any
	// goroutine: with nil when all replicas in sync have the record, with a [RefusedError] if the
	// broker or the client refuses this record, and with any other error if the broker may accept
	// it later. A record on which Produce panics is refused.
	Produce(r Record, done func(error))
	// Purge gives up all records that are not acknowledged, and calls done for each. Some of them
	// may have reached the broker. It does not wait for the broker.
	Purge()
}

// RefusedError says that the broker, or the client, refuses a record and accepts others: it is too
// large, its topic is unknown or forbidden, or the client panics on it.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return fmt.Sprintf("refused: %v", e.Err) }

// Unwrap returns the error of the broker or the client.
func (e *RefusedError) Unwrap() error { return e.Err }
