package stockfeed

import (
	"context"
	"fmt"

	idem "github.com/idemgen/idemgen/runtime"
)

// Service implements Handler. This file is yours: idemgen does not touch it again.
type Service struct{}

// Visited runs in the transaction that also records the event: what it writes through
// tx commits with it, or not at all. An error is tried again, as on_failure says, unless it
// is marked with idem.Permanent.
func (Service) Visited(ctx context.Context, tx idem.Tx, e Visited) error {
	return fmt.Errorf("Visited: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}

// ProductChanged runs outside of the transaction, before the event's steps. Pass the key of
// idem.DeliveryFrom(ctx) on, if the other side knows calls again by one. Of a plain error
// nobody knows what was done: idem.NotDone, Unavailable, Permanent and RetryAfter say that nothing
// was. ctx ends with effect.timeout.
func (Service) ProductChanged(ctx context.Context, e ProductChanged) error {
	return fmt.Errorf("ProductChanged: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
