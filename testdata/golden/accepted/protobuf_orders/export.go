// This file is written by hand: what the tests of package gocode call.

package orderbook

import "github.com/idemgen/idemgen/runtime/wire"

// DecodeOrderPlaced decodes a record of event OrderPlaced.
func DecodeOrderPlaced(m *wire.Message) (e OrderPlaced, err error) {
	var s ordersV1Decoder
	encoding := ordersV1Encoding{Message: ordersV1Message}
	opened, err := encoding.Open(m)
	if err != nil {
		return e, err
	}
	s.Reset(opened)
	e.decode(&s, opened)
	return e, s.Finish("OrderPlaced")
}
