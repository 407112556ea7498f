package idemtype

import (
	"context"

	"github.com/idemgen/idemgen/runtime/wire"
)

// HandlerFunc is one call of a handler; DeliveryFrom of package idem tells which.
type HandlerFunc func(ctx context.Context, tx wire.Tx) error

// Middleware wraps a call. What it writes through tx commits with the event.
type Middleware func(next HandlerFunc) HandlerFunc

// Delivery is what a handler was called for.
type Delivery struct {
	Consumer string
	Event    string   // Go name of the event
	Key      wire.Key // hand it downstream as an idempotency key; zero for events identified by offset
	Attempt  int      // 1 for the first call, and for the one after a call that went well
	Token    int64    // of an effect's lease: greater than those of its key before; 0 for handlers
	// Lock is the lock of the event that the call holds. Hand its Token downstream, so that the
	// other side can refuse a holder that lost the lock. Zero without a lock.
	Lock    wire.Lock
	Message wire.Message
}

// DeliveryKey is the key of a context's *[Delivery].
type DeliveryKey struct{}

// DeliveryFrom returns what the handler or the effect was called for. It reports false outside of
// them.
func DeliveryFrom(ctx context.Context) (Delivery, bool) {
	d, ok := ctx.Value(DeliveryKey{}).(*Delivery)
	if !ok {
		return Delivery{}, false
	}
	return *d, true
}
