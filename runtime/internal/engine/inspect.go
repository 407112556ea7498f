package engine

import (
	"context"
	"errors"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// inspect checks whether the chain of an idle partition still ends with the owner's row. This is
// the only way to notice an operator's row, or a failover that lost what the owner applied. An
// attempt in doubt is settled by the next append, not by reading.
func (o *Owner) inspect(ctx context.Context) error {
	if state, _ := o.p.at(); state != protocol.Ready || o.chain.Open() > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.limits().BatchTimeout)
	defer cancel()
	defer context.AfterFunc(o.life.quit, cancel)()
	err := o.checkTail(ctx)
	if _, fenced := errors.AsType[*idemtype.FencedError](err); fenced || o.life.quit.Err() != nil {
		return err
	}
	if err != nil { // not a reason to halt: nothing was rejected
		err = &verdict.Later{Err: outage.InWords(verdict.Describe(err))}
	}
	o.p.tell(o, err)
	return nil
}

// checkTail takes the protocol's step if the tail is not the owner's row.
func (o *Owner) checkTail(ctx context.Context) error {
	conn, err := o.p.process.Pool.Acquire(ctx, o.tellLater)
	if err != nil {
		return err
	}
	defer conn.Release()
	follows, lost, err := o.chain.Check(ctx, conn)
	if follows { // not an append of ours, which may be in doubt
		return (&transaction{o: o, conn: conn}).resolve(ctx).err
	}
	if lost {
		return o.fenced(protocol.Gone, "the ledger's row of this owner is gone").err
	}
	if err == nil {
		err = o.keys.Keep(ctx, conn.Conn(), o.chain.Stream(), o.chain.Tail())
	}
	return err
}

// keepSeen records, from time to time, how far the partition has been read. If that fails, keys
// are kept for longer.
func (o *Owner) keepSeen(ctx context.Context) {
	if state, _ := o.p.at(); state != protocol.Ready || !o.keys.KeepDue() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, o.limits().BatchTimeout)
	defer cancel()
	defer context.AfterFunc(o.life.quit, cancel)()
	conn, err := o.p.process.Pool.Acquire(ctx, func(error) {})
	if err == nil {
		defer conn.Release()
		err = o.keys.Keep(ctx, conn.Conn(), o.chain.Stream(), o.chain.Tail())
	}
	if err != nil {
		o.p.process.Log.Debug("how far a partition has been read was not recorded", "topic", o.p.id.Topic, "partition", o.p.id.Number, "err", verdict.Describe(err))
	}
}

// pass advances the position to end, because the log has no record below it. If that fails, it is
// retried with the next call of Idle, or the next record advances the position.
func (o *Owner) pass(ctx context.Context, end int64) error {
	to, ok := o.p.endOf(ctx, end)
	if !ok {
		return o.inspect(ctx)
	}
	w := o.batch(nil)
	w.end = to
	err := o.conclude(w, o.transact(ctx, w))
	if _, wait := errors.AsType[*verdict.Later](err); wait {
		o.p.tell(o, err)
		return nil
	}
	return err
}

// endOf returns the position at the end of the log, with the current leader epoch: transaction
// markers may have a later epoch than the last record. It reports false while the broker does not
// provide it.
func (p *Partition) endOf(ctx context.Context, end int64) (idemtype.Position, bool) {
	ask := p.standby.a.Last
	if ask == nil {
		return idemtype.Position{Offset: end, Epoch: -1}, true
	}
	last, err := ask(ctx)
	return idemtype.Position{Offset: end, Epoch: last.Epoch}, err == nil && last.Offset >= end
}
