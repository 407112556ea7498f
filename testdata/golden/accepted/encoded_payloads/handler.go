package stockfeed

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler. This file is yours: idemgen will not change it.
type Service struct{}

// Visited runs in the transaction that also records the event. Its writes through tx commit
// together with that record, or not at all. After an error the event is retried as on_failure
// says, unless the error is marked with idem.Permanent.
func (Service) Visited(ctx context.Context, tx idem.Tx, e Visited) error {
	return fmt.Errorf("Visited: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// ProductChanged runs outside of the transaction, before the event's steps. If the provider
// deduplicates calls by key, send it the key from idem.DeliveryFrom(ctx). A plain error leaves the
// outcome of the call unknown. If the call did nothing, mark the error with idem.NotDone,
// Unavailable, Permanent or RetryAfter. ctx is canceled after effect.timeout.
func (Service) ProductChanged(ctx context.Context, e ProductChanged) error {
	return fmt.Errorf("ProductChanged: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
