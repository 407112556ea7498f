package outbox

import (
	"context"

	idem "github.com/idemgen/idemgen/runtime"
)

// Service implements Handler. This file is yours: idemgen does not touch it again.
type Service struct{}

// OrderAudited runs in the transaction that also records the event: what it writes through
// tx commits with it, or not at all. An error is tried again, as on_failure says, unless it
// is marked with idem.Permanent.
func (Service) OrderAudited(ctx context.Context, tx idem.Tx, e OrderAudited) error {
	return EmitOrderChecked(ctx, tx, OrderChecked(e))
}
