package effect

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
)

// heartbeat extends the lease of a call while the call runs. It is stopped before what came of the
// call is recorded: the lease would look lost then.
type heartbeat struct{ stop context.CancelFunc }

// beat begins a heartbeat. It ends the call, by lost, if the lease is another's, or if it could
// not be extended in time: then it may be.
func (t *task) beat(ctx context.Context, hold lease.Hold, lost context.CancelCauseFunc) *heartbeat {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		term := t.effect.Terms.Lease
		tick := time.NewTicker(term / 3)
		defer tick.Stop()
		for extended := time.Now(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			asked := time.Now()
			held, err := t.desk.process.extend.do(ctx, hold)
			switch {
			case ctx.Err() != nil:
				return
			case err == nil && held:
				extended = asked
			case err == nil, time.Since(extended) > term:
				lost(ErrLost)
				return
			}
		}
	}()
	return &heartbeat{cancel}
}
