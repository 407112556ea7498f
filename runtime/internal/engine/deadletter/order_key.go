package deadletter

import (
	"crypto/sha256"

	"github.com/idemgen/idemgen/runtime/wire"
)

// orderKeySpace keeps hashes of record keys apart from those of events' keys.
const orderKeySpace = "idemgen order key"

// OrderKey is the hash of a record's key, by which records of one key find one another; nil if
// the record has no key. Two keys are equal if their bytes are.
func OrderKey(m *wire.Message) *wire.UUID {
	if m.Key == nil {
		return nil
	}
	sum := sha256.Sum256(append([]byte(orderKeySpace), m.Key...))
	key := wire.UUID(sum[:16])
	return &key
}
