package orderbook

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler. This file is yours: idemgen will not change it.
type Service struct{}

// OrderPaid runs outside of the transaction, before the event's steps. If the provider
// deduplicates calls by key, send it the key from idem.DeliveryFrom(ctx). A plain error leaves the
// outcome of the call unknown. If the call did nothing, mark the error with idem.NotDone,
// Unavailable, Permanent or RetryAfter. ctx is canceled after effect.timeout.
func (Service) OrderPaid(ctx context.Context, e OrderPaid) error {
	return fmt.Errorf("OrderPaid: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
