package deadletter

import (
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/wire"
)

// OrderKey returns the hash of a record's key; nil if the record has none.
func OrderKey(m *wire.Message) *wire.UUID {
	if m.Key == nil {
		return nil
	}
	key := record.OrderKey(m.Key)
	return &key
}
