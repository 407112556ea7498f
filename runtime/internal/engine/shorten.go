package engine

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/wire"
)

// shareOfTime is how much of batch_timeout a transaction with handlers uses before it ends
// early: the last call may take as long again, and then the commit.
const shareOfTime = 3

// late reports whether the transaction is to end before call, with the records in front of
// it. At least one handler was called, and nothing of the call's own record was done.
func (x *explicit) late(ctx context.Context, call *wire.Call) bool {
	if x.last == nil || x.last.Message.Offset == call.Message.Offset {
		return false
	}
	most := x.o.limits().BatchTimeout
	end, ok := ctx.Deadline()
	return ok && time.Until(end) < most-most/shareOfTime
}

// shorten leaves the records from an offset on to the next transaction. Nothing of them was
// sent yet, but what the append said, and their claims: both came first, because position
// and keys must be ours before the first effect. That is taken back now, in front of COMMIT,
// and the row gets the token of an attempt of its own: whatever becomes of the reply, the
// token that stands says where this transaction ended.
func (x *explicit) shorten(offset int64) error {
	o := x.o
	d, err := o.Decide(x.d.Records[:retry.Index(x.d.Records, offset)], x.d.Known)
	if err != nil {
		return err
	}
	if x.checks == 0 {
		x.check()
	}
	before := *x.a
	*x.a = o.attempt(d)
	x.d, x.pending = d, append(x.pending[:x.checks:x.checks], o.chain.Shorten(before.Row.Token, x.a.Row))
	x.pending = append(x.pending, d.Known.Release(before.Claims, d.Claims)...)
	return nil
}
