package engine

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/wire"
)

// shareOfTime is how much of batch_timeout a transaction with handlers uses before it ends
// early: the last call may take as long again, and then the commit.
const shareOfTime = 3

// endsEarly reports whether the transaction is to end before call, with the records in front of
// it. At least one handler was called, and nothing of the call's own record was done.
func (x *explicit) endsEarly(ctx context.Context, call *wire.Call) bool {
	if x.last == nil || x.last.Message.Offset == call.Message.Offset {
		return false
	}
	most := x.o.limits().BatchTimeout
	end, ok := ctx.Deadline()
	return ok && time.Until(end) < most-most/shareOfTime
}

// shorten leaves the records from an offset on to the next transaction. The append and the claims
// covered them, because position and keys must be ours before the first effect; nothing else of
// them was sent. Both are corrected now, before COMMIT. The row gets the token of a new attempt:
// if the reply is lost, the token in the chain says where this transaction ended.
func (x *explicit) shorten(offset int64) error {
	o := x.o
	t := &transaction{o: o, w: o.batch(x.d.Records[:retry.Index(x.d.Records, offset)]), conn: x.conn}
	d, err := o.decision(t.w, x.d.Known)
	if err != nil {
		return err
	}
	if x.checks == nil {
		x.check()
	}
	before := *x.a
	*x.a = t.attempt(d)
	x.transaction, x.d = t, d
	x.pending = append([]pipeline.Statement{o.chain.Shorten(before.Row.Token, x.a.Row)}, d.Known.Release(before.Claims, d.Claims)...)
	return nil
}
