package processor

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler. This file is yours: idemgen will not change it.
type Service struct{}

// Order runs in the transaction that also records the event. Its writes through tx commit
// together with that record, or not at all. After an error the event is retried as on_failure
// says, unless the error is marked with idem.Permanent.
func (Service) Order(ctx context.Context, tx idem.Tx, e Order) error {
	return fmt.Errorf("Order: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
