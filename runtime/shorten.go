package idem

import (
	"context"
	"slices"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
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
	most := x.o.c.service.Limits.BatchTimeout
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
	w, err := o.build(x.w.records[:indexOf(x.w.records, offset)], x.w.known)
	if err != nil {
		return err
	}
	if x.asked == 0 {
		x.ask()
	}
	before := *x.a
	*x.a = o.attempt(w)
	x.w, x.pending = w, append(x.pending[:x.asked:x.asked], statement{is: shorten, args: ledger.Shorten(o.stream, o.tail, before.row.Token, x.a.row)})
	if left := leftOver(before.claims, w.claims); len(left) > 0 {
		x.pending = append(x.pending, o.releaseStatement(w.known.open, left))
	}
	return nil
}

// leftOver are the keys of claims that are not among those that stay.
func leftOver(claims, stay []wire.Claim) []Key {
	kept := map[Key]bool{}
	for i := range stay {
		kept[stay[i].Key] = true
	}
	return slices.DeleteFunc(keysOf(claims), func(k Key) bool { return kept[k] })
}

// releaseStatement takes back claims of this transaction.
func (o *owner) releaseStatement(open generation.Generation, keys []Key) statement {
	var rows wire.Rows
	for _, k := range keys {
		rows.Row().UUID(UUID(k))
	}
	args := [][]byte{ledger.Int4(open.Number), ledger.Int4(o.stream), ledger.Int8(o.tail.Seq + 1)}
	return statement{sql: generation.ReleaseSQL, args: rows.Seal(args)}
}
