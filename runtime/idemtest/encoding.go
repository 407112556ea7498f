package idemtest

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Packing is what the values of a topic are packed in.
type Packing interface {
	// Pack packs JSON into a value. An error is about JSON that the packing cannot hold.
	Pack(value []byte) ([]byte, error)
	// Open returns what is in a value, as JSON. An error is about a value that has nothing in it.
	Open(value []byte) ([]byte, error)
}

// JSONString is payload: {encoding: json_string} of a spec.
type JSONString struct{}

// Pack implements [Packing].
func (JSONString) Pack(value []byte) ([]byte, error) {
	var out bytes.Buffer
	w := json.NewEncoder(&out)
	w.SetEscapeHTML(false)
	err := w.Encode(string(value))
	return out.Bytes(), err
}

// Open implements [Packing].
func (JSONString) Open(value []byte) ([]byte, error) {
	var text string
	err := json.Unmarshal(value, &text)
	return []byte(text), err
}

// packed are records as their producers send them.
func packed(b *trial, records []idem.Message) []idem.Message {
	if len(b.Encodings) == 0 {
		return records
	}
	out := slices.Clone(records)
	for i, m := range out {
		if !b.asIs[placeOf(m)] {
			out[i].Value = pack(b.Encodings[m.Topic], m.Value)
		}
	}
	return out
}

// pack is a value in a packing; nil is none. What it cannot hold is sent as it is.
func pack(in Packing, value []byte) []byte {
	if value == nil || in == nil {
		return value
	}
	if packed, err := in.Pack(value); err == nil {
		return packed
	}
	return value
}

// misPacked are values that cannot be unpacked, made of one that can: as it is without the
// packing, none, cut off, with something after it, and twice. Without a packing there are none.
func misPacked(in Packing, value []byte) (bad [][]byte) {
	if in == nil || value == nil {
		return nil
	}
	whole := pack(in, value)
	all := [][]byte{value, {}, whole[:max(0, len(whole)-2)], append(slices.Clone(whole), 'x'), slices.Concat(whole, whole)}
	return slices.DeleteFunc(all, func(value []byte) bool {
		_, err := in.Open(value)
		return err == nil
	})
}
