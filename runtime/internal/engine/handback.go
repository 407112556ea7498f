package engine

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// handBackTime is how long handing back may take.
const handBackTime = 2 * time.Second

// handBack frees a partition that was given up after this owner's fence, before it appended
// anything else. A member that is slow may fence a partition when the group has given it to
// another, which would then be in STANDBY until the ledger has not moved for long. If nobody can
// be told, that is what happens.
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
