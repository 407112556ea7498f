package generator

import "github.com/idemgen/idemgen/internal/gen/eventkey"

// KeyPart is a part of an idempotency key: the name of its field or header, and its text.
type KeyPart = eventkey.Value

// EventKey is the idempotency key of one event.
type EventKey = eventkey.Key

// Keys makes the idempotency keys that the events of a topic have by these parts, and returns them
// with the consumer of the spec. event is the name of one; "" is any.
func Keys(spec Spec, topic, event string, parts []KeyPart) (consumer string, keys []EventKey, err error) {
	s, err := readInOrder(spec)
	if err != nil {
		return "", nil, err
	}
	found, err := eventkey.Of(s.service, topic, event, parts)
	if err != nil {
		return "", nil, err
	}
	return s.service.Consumer, found, nil
}
