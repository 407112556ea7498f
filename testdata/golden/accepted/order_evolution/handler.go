package history

import (
	"context"
	"fmt"

	idem "github.com/idemgen/idemgen/runtime"
)

// Service implements Handler. This file is yours: idemgen does not touch it again.
type Service struct{}

// OrderRepriced runs in the transaction that also records the event: what it writes through
// tx commits with it, or not at all. An error is tried again, as on_failure says, unless it
// is marked with idem.Permanent.
func (Service) OrderRepriced(ctx context.Context, tx idem.Tx, e OrderRepriced) error {
	return fmt.Errorf("OrderRepriced: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
