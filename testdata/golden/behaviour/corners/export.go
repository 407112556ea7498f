// This file is written by hand: what the tests of package gocode call.

package corners

import "github.com/idemgen/idemgen/runtime/wire"

// NewPlan returns a plan of topic type.v1 whose handlers are never called.
func NewPlan() wire.Plan { return typeV1Topic(nil).NewPlan() }

// Statements are those of topic type.v1.
func Statements() []string {
	t := typeV1Topic(nil)
	return t.Statements()
}

// DecodeParts decodes a record of event Parts.
func DecodeParts(m *wire.Message) (e Parts, err error) {
	var s typeV1Decoder
	s.Reset(m)
	e.decode(&s, m)
	return e, s.Finish("Parts")
}

// DecodeScan decodes a record of event Scan.
func DecodeScan(m *wire.Message) (e Scan, err error) {
	var s typeV1Decoder
	s.Reset(m)
	e.decode(&s, m)
	return e, s.Finish("Scan")
}

// DecodeSelect decodes a record of event Select.
func DecodeSelect(m *wire.Message) (e Select, err error) {
	var s typeV1Decoder
	s.Reset(m)
	e.decode(&s, m)
	return e, s.Finish("Select")
}

// DecodeSized decodes a record of event Sized.
func DecodeSized(m *wire.Message) (e Sized, err error) {
	var s tenantsV1Decoder
	s.Reset(m)
	e.decode(&s, m)
	return e, s.Finish("Sized")
}

// DecodeEventType decodes a record of event EventType.
func DecodeEventType(m *wire.Message) (e EventType, err error) {
	var s tenantsV1Decoder
	s.Reset(m)
	e.decode(&s, m)
	return e, s.Finish("EventType")
}

// DecodeEventTypeEvent decodes a record of event EventTypeEvent.
func DecodeEventTypeEvent(m *wire.Message) (e EventTypeEvent, err error) {
	var s tenantsV1Decoder
	s.Reset(m)
	e.decode(&s, m)
	return e, s.Finish("EventTypeEvent")
}
