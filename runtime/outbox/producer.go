package outbox

import "fmt"

// Record is a Kafka record.
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

// Producer sends records to Kafka. Packages runtime/confluent/producer and, without cgo,
// runtime/franz/producer implement it.
type Producer interface {
	// Produce queues a record for sending and does not wait. done is called once, from any
	// goroutine: with nil when all in-sync replicas have the record, with a [RefusedError] if the
	// broker or the client rejects this record, and with any other error if the broker may accept
	// it later. A record on which Produce panics counts as rejected.
	Produce(r Record, done func(error))
	// Purge drops all records that are not acknowledged, and calls done for each of them. Some may
	// have reached the broker. Purge does not wait for the broker.
	Purge()
}

// RefusedError says that the broker or the client rejects a record but accepts others: the record
// is too large, its topic is unknown or forbidden, or the client panics on it.
type RefusedError struct {
	Err   error
	Cause Cause // NoTopic, TooLarge, or "" for another one
}

// Cause is why a record is rejected, if there is a remedy of its own.
type Cause string

// The causes.
const (
	NoTopic  Cause = "no topic"  // the topic does not exist
	TooLarge Cause = "too large" // for the topic, or for the client
)

func (e *RefusedError) Error() string { return fmt.Sprintf("refused: %v", e.Err) }

// Unwrap returns the error of the broker or the client.
func (e *RefusedError) Unwrap() error { return e.Err }
