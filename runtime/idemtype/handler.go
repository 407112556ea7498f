package idemtype

import (
	"context"

	"github.com/idemgen/idemgen/runtime/wire"
)

// HandlerFunc is one call of a handler; DeliveryFrom of package idem returns its delivery.
type HandlerFunc func(ctx context.Context, tx wire.Tx) error

// Middleware wraps a call. What it writes through tx commits with the event.
type Middleware func(next HandlerFunc) HandlerFunc

// Delivery describes a call of a handler or an effect.
type Delivery struct {
	Consumer string
	Event    string   // Go name of the event
	Key      wire.Key // pass it downstream as an idempotency key; zero for a handler's event identified by offset
	Attempt  int      // 1 for the first call, and for the first after a successful one
	Token    int64    // of an effect's lease: greater than all earlier ones of its key; 0 for handlers
	// Lock is the event's lock, which the call holds. Pass its Token downstream, so that the
	// provider can reject a holder that has lost the lock. Zero without a lock.
	Lock    wire.Lock
	Message wire.Message
}

// DeliveryKey is the context key of a *[Delivery].
type DeliveryKey struct{}

// DeliveryFrom returns the delivery for which a handler or an effect was called. It reports false
// outside of such a call.
func DeliveryFrom(ctx context.Context) (Delivery, bool) {
	d, ok := ctx.Value(DeliveryKey{}).(*Delivery)
	if !ok {
		return Delivery{}, false
	}
	return *d, true
}
