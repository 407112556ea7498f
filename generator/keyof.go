package generator

import (
	"time"

	"github.com/idemgen/idemgen/internal/gen/eventkey"
	"github.com/idemgen/idemgen/internal/record"
)

// KeyPart is a part of an idempotency key: the name of a field or header, and its value as text.
type KeyPart = eventkey.Value

// EventKey is the idempotency key of one event.
type EventKey = record.EventKey

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

// KeyMaker makes idempotency keys of one event.
type KeyMaker = eventkey.Maker

// KeysOf returns what makes the keys of an event, the consumer of the spec, and the longest window
// of its events.
func KeysOf(spec Spec, event string) (m *KeyMaker, consumer string, longest time.Duration, err error) {
	s, err := readInOrder(spec)
	if err != nil {
		return nil, "", 0, err
	}
	m, err = eventkey.For(s.service, event)
	for _, t := range s.service.Topics {
		for _, e := range t.Events {
			longest = max(longest, e.Key.Window)
		}
	}
	return m, s.service.Consumer, longest, err
}
