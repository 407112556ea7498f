package locks

import (
	"context"
	"fmt"

	idem "github.com/idemgen/idemgen/runtime"
)

// Service implements Handler. This file is yours: idemgen does not touch it again.
type Service struct{}

// PaymentBooked runs outside of the transaction, before the event's steps. Pass the key of
// idem.DeliveryFrom(ctx) on, if the other side knows calls again by one. Of a plain error
// nobody knows what was done: idem.NotDone, Unavailable, Permanent and RetryAfter say that nothing
// was. ctx ends with effect.timeout.
func (Service) PaymentBooked(ctx context.Context, e PaymentBooked) (Receipt, error) {
	return Receipt{}, fmt.Errorf("PaymentBooked: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// PaymentUndone runs outside of the transaction, before the event's steps. Pass the key of
// idem.DeliveryFrom(ctx) on, if the other side knows calls again by one. Of a plain error
// nobody knows what was done: idem.NotDone, Unavailable, Permanent and RetryAfter say that nothing
// was. ctx ends with effect.timeout.
func (Service) PaymentUndone(ctx context.Context, e PaymentUndone) error {
	return fmt.Errorf("PaymentUndone: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// LimitChanged runs outside of the transaction, before the event's steps. Pass the key of
// idem.DeliveryFrom(ctx) on, if the other side knows calls again by one. Of a plain error
// nobody knows what was done: idem.NotDone, Unavailable, Permanent and RetryAfter say that nothing
// was. ctx ends with effect.timeout.
func (Service) LimitChanged(ctx context.Context, e LimitChanged) error {
	return fmt.Errorf("LimitChanged: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// DocumentShared runs outside of the transaction, before the event's steps. Pass the key of
// idem.DeliveryFrom(ctx) on, if the other side knows calls again by one. Of a plain error
// nobody knows what was done: idem.NotDone, Unavailable, Permanent and RetryAfter say that nothing
// was. ctx ends with effect.timeout.
func (Service) DocumentShared(ctx context.Context, e DocumentShared) error {
	return fmt.Errorf("DocumentShared: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
