package generator

import "github.com/idemgen/idemgen/internal/gen/eventkey"

// KeyPart is a part of an idempotency key: the name of a field or header, and its value as text.
type KeyPart = eventkey.Value

// EventKey is the idempotency key of one event.
type EventKey = eventkey.Key

// Keys computes the idempotency keys that events of a topic have with these parts, and returns
// them with the consumer of the spec. event selects one event; "" means all.
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
