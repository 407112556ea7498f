package outbox

import (
	"context"
	"errors"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Record is what is sent of one row.
type Record struct {
	Topic   string
	Key     []byte
	Value   []byte // nil is a tombstone
	Headers []wire.Header
}

// Producer connects to Kafka; runtime/confluent has one.
type Producer interface {
	// Open is called each time a relay has become the only one that sends. It may shut earlier
	// senders out. An error is waited for, and Open is called again.
	Open(ctx context.Context) (Sender, error)
}

// Sender sends for one relay, until that leads no more or the sender is broken.
type Sender interface {
	// Send returns one error per record: nil if Kafka has it for good, a [*RefusedError] if
	// Kafka will not take it as it is, any other if nobody knows or Kafka is away.
	//
	// Records of equal Topic and Key stand in the order in which readers must see them: one is
	// not sent before Kafka has those before it for good, unless all of a call take effect
	// together or not at all.
	//
	// When ctx ends, Send sends nothing more and returns within seconds. It is not called again
	// then.
	Send(ctx context.Context, records []Record) []error
	// Close ends the sender within seconds. Behind it nothing is sent.
	Close() error
}

// RefusedError says that Kafka does not take a record as it is, and that trying again cures that
// only if somebody changes the topic, the rights or the row.
type RefusedError struct {
	// Topic says that the record is not to blame: the topic does not exist, or may not be
	// written.
	Topic bool
	Err   error // must not hold the record's key or value
}

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns what the client said.
func (e *RefusedError) Unwrap() error { return e.Err }

var (
	// ErrBroken is in an error of [Sender.Send] behind which the Sender is of no use. The relay
	// opens another one.
	ErrBroken = errors.New("the Kafka client cannot go on")
	// ErrHeldBack is the error of a record that was not sent because of another one of its call.
	ErrHeldBack = errors.New("not sent because of another record")
)
