package locks

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler. This file is yours: idemgen will not change it.
type Service struct{}

// PaymentBooked runs outside of the transaction, before the event's steps. If the provider
// deduplicates calls by key, send it the key from idem.DeliveryFrom(ctx). A plain error leaves the
// outcome of the call unknown. If the call did nothing, mark the error with idem.NotDone,
// Unavailable, Permanent or RetryAfter. ctx is canceled after effect.timeout.
func (Service) PaymentBooked(ctx context.Context, e PaymentBooked) (Receipt, error) {
	return Receipt{}, fmt.Errorf("PaymentBooked: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// PaymentUndone runs outside of the transaction, before the event's steps. If the provider
// deduplicates calls by key, send it the key from idem.DeliveryFrom(ctx). A plain error leaves the
// outcome of the call unknown. If the call did nothing, mark the error with idem.NotDone,
// Unavailable, Permanent or RetryAfter. ctx is canceled after effect.timeout.
func (Service) PaymentUndone(ctx context.Context, e PaymentUndone) error {
	return fmt.Errorf("PaymentUndone: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// LimitChanged runs outside of the transaction, before the event's steps. If the provider
// deduplicates calls by key, send it the key from idem.DeliveryFrom(ctx). A plain error leaves the
// outcome of the call unknown. If the call did nothing, mark the error with idem.NotDone,
// Unavailable, Permanent or RetryAfter. ctx is canceled after effect.timeout.
func (Service) LimitChanged(ctx context.Context, e LimitChanged) error {
	return fmt.Errorf("LimitChanged: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// DocumentShared runs outside of the transaction, before the event's steps. If the provider
// deduplicates calls by key, send it the key from idem.DeliveryFrom(ctx). A plain error leaves the
// outcome of the call unknown. If the call did nothing, mark the error with idem.NotDone,
// Unavailable, Permanent or RetryAfter. ctx is canceled after effect.timeout.
func (Service) DocumentShared(ctx context.Context, e DocumentShared) error {
	return fmt.Errorf("DocumentShared: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
