package generator

import (
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/eventkey"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// KeyPart is a part of an idempotency key: the name of its field or header, and its text.
type KeyPart = eventkey.Value

// EventKey is the idempotency key of one event.
type EventKey = eventkey.Key

// Keys makes the idempotency keys that the events of a topic have by these parts, and returns them
// with the consumer of the spec. event is the name of one; "" is any.
func Keys(spec Spec, topic, event string, parts []KeyPart) (consumer string, keys []EventKey, err error) {
	service, err := serviceOf(spec)
	if err != nil {
		return "", nil, err
	}
	found, err := eventkey.Of(service, topic, event, parts)
	if err != nil {
		return "", nil, err
	}
	return service.Consumer, found, nil
}

// serviceOf reads a spec that must be in order.
func serviceOf(spec Spec) (*model.Service, error) {
	u, err := unitOf(spec)
	if err != nil {
		return nil, err
	}
	return u.service, nil
}

// unitOf reads a spec and its cases, which must be in order.
func unitOf(spec Spec) (_ *unit, err error) {
	u, err := open(spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, u.folder.Close()) }()
	if err := read([]*unit{u}); err != nil {
		return nil, err
	}
	if u.service == nil {
		return nil, fmt.Errorf("%s is not in order: idemgen check says why", spec.Path)
	}
	u.service.Source = spec.Path
	return u, nil
}
