package engine

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/wire"
)

// shareOfTime is the part of batch_timeout after which a transaction with handlers ends early. The
// last call may take as long again, and the commit comes after it.
const shareOfTime = 3

// endsEarly reports whether the transaction should end before call, with the records before the
// call's record. At least one handler must have been called, and no step of the call's own record
// may have been sent.
func (x *explicit) endsEarly(ctx context.Context, call *wire.Call) bool {
	if x.last == nil || x.last.Message.Offset == call.Message.Offset {
		return false
	}
	most := x.o.limits().BatchTimeout
	end, ok := ctx.Deadline()
	return ok && time.Until(end) < most-most/shareOfTime
}

// shorten leaves the records from an offset on to the next transaction. The append and the claims
// included them, because position and keys must be ours before the first effect; nothing else of
// them was sent. Both are corrected now, before COMMIT. The row gets the token of a new attempt:
// if the reply is lost, the token in the chain shows where this transaction ended.
func (x *explicit) shorten(ctx context.Context, offset int64) error {
	x.pending = x.pending[:x.behind]     // the others are statements of later records
	if err := x.Flush(ctx); err != nil { // before the decision takes the memory of their arguments
		return err
	}
	o := x.o
	t := &transaction{o: o, w: o.batch(x.d.Records[:retry.Index(x.d.Records, offset)]), conn: x.conn}
	d, err := o.decision(t.w, x.d.Known)
	if err != nil {
		return err
	}
	if !x.checked {
		x.check()
	}
	before := *x.a
	*x.a = t.attempt(d)
	x.transaction, x.d = t, d
	x.add(o.chain.Shorten(before.Row.Token, x.a.Row))
	x.add(d.Known.Release(before.Claims, d.Claims)...)
	return nil
}
