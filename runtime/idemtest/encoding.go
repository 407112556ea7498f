package idemtest

import (
	"bytes"
	"compress/gzip"
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
	if value == nil {
		return nil
	}
	var out bytes.Buffer
	switch encoding {
	case "gzip":
		w := gzip.NewWriter(&out)
		_, _ = w.Write(value) // a buffer takes everything
		_ = w.Close()
	case "json_string":
		w := json.NewEncoder(&out)
		w.SetEscapeHTML(false)
		_ = w.Encode(string(value))
	default:
		return value
	}
	return out.Bytes()
}

// misPacked are values that cannot be unpacked, made of one that can: as it is without the
// encoding, cut off, with something behind it, twice, and in gzip with one bit of its checksum
// changed. For a topic without an encoding there are none.
func misPacked(encoding string, value []byte) (bad [][]byte) {
	whole := pack(encoding, value)
	if encoding == "" || value == nil {
		return nil
	}
	bad = [][]byte{value, {}, whole[:len(whole)-2], append(slices.Clone(whole), 'x'), slices.Concat(whole, whole)}
	if encoding == "gzip" {
		const length = 4 // of the content, behind the checksum
		damaged := slices.Clone(whole)
		damaged[len(damaged)-length-1] ^= 1
		bad = append(bad, damaged)
	}
	return bad
}
