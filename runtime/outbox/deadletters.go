package outbox

import (
	"errors"
	"fmt"
)

// Consumer is a consumer whose dead letters are sent. Generated consumers implement it.
type Consumer interface {
	Name() string
	// Reads reports whether the consumer reads a topic, by name or by pattern.
	Reads(topic string) bool
}

// Content selects what a dead letter includes of its record.
type Content int

const (
	// WholeRecord includes key, value and headers, as they were read.
	WholeRecord Content = iota
	// WithoutPayload includes only the key: values and headers may contain sensitive data.
	WithoutPayload
)

// DeadLetterTopic is a topic to which a [Relay] sends a consumer's dead letters.
type DeadLetterTopic struct {
	consumer, topic string
	content         Content
}

// DeadLetters returns the value of [Relay].DeadLetters for a consumer and a topic. The relay sends
// each dead letter once the transaction that stored it has committed. [DeadLetterMigration] must
// have been applied. A topic that the consumer itself reads is an error, because each dead letter
// there could become another one.
func DeadLetters(of Consumer, topic string, content Content) (*DeadLetterTopic, error) {
	switch {
	case of == nil:
		return nil, errors.New("outbox: DeadLetters needs a consumer, got nil")
	case checkTopic(topic) != nil:
		return nil, fmt.Errorf("outbox: dead letters of %s: %w", of.Name(), checkTopic(topic))
	case content != WholeRecord && content != WithoutPayload:
		return nil, fmt.Errorf("outbox: dead letters of %s: %d is neither WholeRecord nor WithoutPayload", of.Name(), content)
	case of.Reads(topic):
		return nil, fmt.Errorf("outbox: dead letters of %s: the consumer reads topic %q itself, so each of its dead letters there would produce another one: choose a topic that matches none of the topics and patterns of its spec", of.Name(), topic)
	}
	return &DeadLetterTopic{consumer: of.Name(), topic: topic, content: content}, nil
}
