package idem

import (
	"context"

	"github.com/idemgen/idemgen/runtime/internal/ledger"
)

// handBack frees a partition that was given up behind this owner's fence, before it appended
// anything else. A member that is slow may fence a partition when the group has given it to
// another, which would then stand by until the ledger stood still for long. If nobody can be
// told, that is what happens.
func (o *owner) handBack() {
	if !o.fresh || o.tried {
		return
	}
	o.fresh = false
	ctx, cancel := context.WithTimeout(context.Background(), revokePatience)
	defer cancel()
	if err := o.appendHandBack(ctx); err != nil {
		o.c.log.Debug("a partition was not handed back", "topic", o.id.Topic, "partition", o.id.Number, "err", describe(err))
	}
}

func (o *owner) appendHandBack(ctx context.Context) error {
	conn, err := o.c.acquire(ctx, func(error) {})
	if err != nil {
		return err
	}
	defer conn.Release()
	p := newPipeline(ctx, conn.Conn())
	p.add(o.appendStatement(ledger.Row{
		Kind: ledger.Fence, Token: newToken(), Next: o.tail.Next, Epoch: o.tail.Epoch, Window: o.tail.Window, Info: ledger.FenceInfo(ledger.HandBackInfo(who()), o.row),
	}))
	_, err = p.run()
	return err
}
