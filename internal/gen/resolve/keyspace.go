package resolve

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// keySpace separates the keys of consumers, topics, events and sources from each other: the
// first 16 bytes of SHA-256 over the number of names (one byte) and the names, each after
// its length (4 bytes, big endian), then the same for the parts of the source, each "h" or
// "f" and what the header or field is called.
func keySpace(consumer *syntax.Text, e *draft.Event, source []syntax.KeySource) [16]byte {
	if consumer == nil {
		return [16]byte{}
	}
	var data []byte
	list := func(texts ...string) {
		data = append(data, byte(len(texts)))
		for _, t := range texts {
			data = binary.BigEndian.AppendUint32(data, uint32(len(t)))
			data = append(data, t...)
		}
	}
	list(consumer.Value, e.Topic.Model.Name, e.Model.Name)
	var parts []string
	for _, src := range source {
		if src.Header != nil {
			parts = append(parts, "h"+src.Header.Value)
		} else if src.Field != nil {
			parts = append(parts, "f"+src.Field.Value)
		}
	}
	list(parts...)
	sum := sha256.Sum256(data)
	return [16]byte(sum[:16])
}
