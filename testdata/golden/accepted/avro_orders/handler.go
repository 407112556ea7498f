package orderbook

import (
	"context"
	"fmt"

	idem "github.com/idemgen/idemgen/runtime"
)

// Service implements Handler. This file is yours: idemgen does not touch it again.
type Service struct{}

// OrderPaid runs outside of the transaction, before the event's steps. Pass the key of
// idem.DeliveryFrom(ctx) on, if the other side knows calls again by one. Of a plain error
// nobody knows what was done: idem.NotDone, Unavailable, Permanent and RetryAfter say that nothing
// was. ctx ends with effect.timeout.
func (Service) OrderPaid(ctx context.Context, e OrderPaid) error {
	return fmt.Errorf("OrderPaid: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
