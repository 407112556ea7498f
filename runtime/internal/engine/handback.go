package engine

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// handBackTime limits the time to hand a partition back.
const handBackTime = 2 * time.Second

// handBack frees a partition that was given up after this owner's fence, before the owner appended
// anything else. A slow member may fence a partition that the group has already assigned to
// another member, which would then stay in STANDBY until the ledger has not moved for a long time.
// If the row cannot be appended, that is what happens.
func (o *Owner) handBack() {
	if !o.chain.Untouched() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), handBackTime)
	defer cancel()
	conn, err := o.p.process.Pool.Acquire(ctx, func(error) {})
	if err == nil {
		defer conn.Release()
		err = o.chain.HandBack(ctx, conn.Conn())
	}
	if err != nil {
		o.p.process.Log.Debug("a partition was not handed back", "topic", o.p.id.Topic, "partition", o.p.id.Number, "err", verdict.Describe(err))
	}
}
