// This file is written by hand: what the tests of package gocode call.

package decoders

import (
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/strictjson"
)

// Decode are the decoders of the events, by name.
var Decode = map[string]func(m wire.Message) (any, error){
	"Required": decodes((*Required).decode, strictjson.Scanner{}, "Required"),
	"Optional": decodes((*Optional).decode, strictjson.Scanner{}, "Optional"),
	"Defaults": decodes((*Defaults).decode, strictjson.Scanner{}, "Defaults"),
	"Nested":   decodes((*Nested).decode, strictjson.Scanner{}, "Nested"),
	"Patched":  decodes((*Patched).decode, strictV1Topic().NewPlan().(*strictV1Plan).decoder, "Patched"),
	"Moved":    decodes((*Moved).decode, strictV1Topic().NewPlan().(*strictV1Plan).decoder, "Moved"),
	"Headers":  decodes((*Headers).decode, strictjson.Scanner{}, "Headers"),
}

func decodes[T any](decode func(*T, *strictjson.Scanner, *wire.Message), s strictjson.Scanner, event string) func(wire.Message) (any, error) {
	return func(m wire.Message) (any, error) {
		s, e := s, *new(T)
		s.Reset(&m)
		decode(&e, &s, &m)
		return e, s.Finish(event)
	}
}
