package acceptedwarnings

import (
	"context"
	"fmt"

	idem "github.com/idemgen/idemgen/runtime"
)

// Service implements Handler. This file is yours: idemgen does not touch it again.
type Service struct{}

// Written runs in the transaction that also records the event: what it writes through
// tx commits with it, or not at all. An error is tried again, as on_failure says, unless it
// is marked with idem.Permanent.
func (Service) Written(ctx context.Context, tx idem.Tx, e Written) error {
	return fmt.Errorf("Written: %w", idem.ErrNotImplemented) // halts the partition: no event is lost
}
