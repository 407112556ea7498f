package effectsonredis

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler. This file is yours: idemgen will not change it.
type Service struct{}

// UserCreated runs outside of the transaction, before the event's steps. If the provider
// deduplicates calls by key, send it the key from idem.DeliveryFrom(ctx). A plain error leaves the
// outcome of the call unknown. If the call did nothing, mark the error with idem.NotDone,
// Unavailable, Permanent or RetryAfter. ctx is canceled after effect.timeout.
func (Service) UserCreated(ctx context.Context, e UserCreated) (MailReceipt, error) {
	return MailReceipt{}, fmt.Errorf("UserCreated: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// UserPinged runs outside of the transaction, before the event's steps. If the provider
// deduplicates calls by key, send it the key from idem.DeliveryFrom(ctx). A plain error leaves the
// outcome of the call unknown. If the call did nothing, mark the error with idem.NotDone,
// Unavailable, Permanent or RetryAfter. ctx is canceled after effect.timeout.
func (Service) UserPinged(ctx context.Context, e UserPinged) error {
	return fmt.Errorf("UserPinged: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// UserCharged runs outside of the transaction, before the event's steps. If the provider
// deduplicates calls by key, send it the key from idem.DeliveryFrom(ctx). A plain error leaves the
// outcome of the call unknown. If the call did nothing, mark the error with idem.NotDone,
// Unavailable, Permanent or RetryAfter. ctx is canceled after effect.timeout.
func (Service) UserCharged(ctx context.Context, e UserCharged) error {
	return fmt.Errorf("UserCharged: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// UserGone runs in the transaction that also records the event. Its writes through tx commit
// together with that record, or not at all. After an error the event is retried as on_failure
// says, unless the error is marked with idem.Permanent.
func (Service) UserGone(ctx context.Context, tx idem.Tx, e UserGone) error {
	return fmt.Errorf("UserGone: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
