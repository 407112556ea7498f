package idemtest

import (
	"bytes"
	"encoding/json"
	"slices"

	idem "github.com/idemgen/idemgen/runtime"
)

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

// pack is a value in an encoding of the spec; "" is none.
func pack(encoding string, value []byte) []byte {
	if value == nil || encoding == "" {
		return value
	}
	var out bytes.Buffer
	w := json.NewEncoder(&out)
	w.SetEscapeHTML(false)
	_ = w.Encode(string(value)) // a buffer takes everything
	return out.Bytes()
}

// misPacked are values that cannot be unpacked, made of one that can: as it is without the
// encoding, cut off, with something after it, and twice. Without an encoding there are none.
func misPacked(encoding string, value []byte) (bad [][]byte) {
	whole := pack(encoding, value)
	if encoding == "" || value == nil {
		return nil
	}
	return [][]byte{value, {}, whole[:len(whole)-2], append(slices.Clone(whole), 'x'), slices.Concat(whole, whole)}
}
