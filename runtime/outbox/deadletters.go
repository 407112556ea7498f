package outbox

import (
	"errors"
	"fmt"
)

// Consumer is whose dead letters are sent. A consumer that idemgen generated is one.
type Consumer interface {
	Name() string
	// Reads reports whether it reads a topic, by its name or by a pattern.
	Reads(topic string) bool
}

// Content is what a dead letter takes along of its record.
type Content int

const (
	// WholeRecord is key, value and headers, as they were read.
	WholeRecord Content = iota
	// WithoutPayload is the key only: a value and a header may hold anything.
	WithoutPayload
)

// DeadLetterTopic is where a [Relay] sends a consumer's dead letters.
type DeadLetterTopic struct {
	consumer, topic string
	content         Content
}

// DeadLetters sends each dead letter of a consumer to a topic, once the transaction has committed
// that passed its record: for [Relay].DeadLetters. [DeadLetterMigration] must have been applied.
// A topic that the consumer reads itself is an error: its dead letters would never end.
func DeadLetters(of Consumer, topic string, content Content) (*DeadLetterTopic, error) {
	switch {
	case of == nil:
		return nil, errors.New("outbox: DeadLetters needs a consumer, got nil")
	case checkTopic(topic) != nil:
		return nil, fmt.Errorf("outbox: dead letters of %s: %w", of.Name(), checkTopic(topic))
	case content != WholeRecord && content != WithoutPayload:
		return nil, fmt.Errorf("outbox: dead letters of %s: %d is neither WholeRecord nor WithoutPayload", of.Name(), content)
	case of.Reads(topic):
		return nil, fmt.Errorf("outbox: dead letters of %s: the consumer reads topic %q itself, so that each of its dead letters there would make another one: choose a topic that none of its spec's topics and patterns is", of.Name(), topic)
	}
	return &DeadLetterTopic{consumer: of.Name(), topic: topic, content: content}, nil
}
