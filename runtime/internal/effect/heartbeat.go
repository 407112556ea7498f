package effect

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
)

// heartbeat extends the lease of a call while the call runs. It is stopped before the outcome of
// the call is recorded, because the lease would then look lost.
type heartbeat struct{ stop context.CancelFunc }

// extend begins a heartbeat of a lease, or of a lock. It cancels the call with lost if another
// process holds the lease, or may hold it because it could not be extended in time. The end of ctx
// does not stop the heartbeat: a call that ignores its context keeps its lease.
func extend(ctx context.Context, h hold, term time.Duration, lost context.CancelCauseFunc) *heartbeat {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		over := time.AfterFunc(time.Until(h.since.Add(term)), func() { // even while waiting for the store
			lost(lease.ErrLost)
			cancel()
		})
		defer over.Stop()
		tick := time.NewTimer(time.Until(h.since.Add(term / 3)))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			tick.Reset(term / 3)
			asked := time.Now()
			held, err := h.at.extend.do(ctx, h.Hold)
			switch {
			case ctx.Err() != nil:
				return
			case err == nil && held:
				over.Reset(time.Until(asked.Add(term)))
			case err == nil:
				lost(lease.ErrLost)
				return
			}
		}
	}()
	return &heartbeat{cancel}
}
