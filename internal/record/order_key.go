package record

import (
	"crypto/sha256"

	"github.com/idemgen/idemgen/runtime/wire"
)

// orderKeySpace keeps hashes of record keys apart from those of events' keys.
const orderKeySpace = "idemgen order key"

// OrderKey is the hash of a record key, by which records of one key find one another. Two keys are
// equal if their bytes are.
func OrderKey(key []byte) wire.UUID {
	sum := sha256.Sum256(append([]byte(orderKeySpace), key...))
	return wire.UUID(sum[:16])
}
