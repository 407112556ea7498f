package idem

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// resolve is called when a row stands behind the tail. If its token is that of one of our
// attempts, that attempt committed, whatever became of its reply: the owner adopts it, with
// its own boundary and results. Otherwise another owner appended.
func (o *owner) resolve(ctx context.Context, conn *pgxpool.Conn) (Result, error) {
	var token UUID
	var kind byte
	var written time.Time
	var info string
	err := conn.QueryRow(ctx, ledger.RowSQL, o.stream, o.tail.Seq+1).Scan(&token, &kind, &written, &info)
	if errors.Is(err, pgx.ErrNoRows) {
		return Result{}, o.fenced(protocol.Foreign, "the ledger's row behind this owner's is gone")
	}
	if err != nil {
		return Result{}, err
	}
	i := slices.IndexFunc(o.attempts, func(a attempt) bool { return a.row.Token == token })
	if i < 0 {
		reason := "another owner appended to the ledger"
		if ledger.ByOperator(kind, info) {
			reason = operatorActed
		} else if kind == ledger.Fence {
			o.foreignFence()
		}
		o.tail = ledger.Tail{Seq: o.tail.Seq + 1, Token: token, Next: o.tail.Next, Epoch: o.tail.Epoch, Kind: kind, Info: info}
		return Result{}, o.fenced(protocol.Foreign, reason)
	}
	if by := o.attempts[i].by; by != nil {
		return Result{}, o.endedByHandler(by)
	}
	o.c.log.Info("a transaction whose reply was lost had committed", "topic", o.id.Topic, "partition", o.id.Number, "seq", o.tail.Seq+1, "next", o.attempts[i].row.Next)
	res := o.attempts[i].result
	return res, o.step(protocol.Own, nil, func() { o.settle(o.attempts[i], written) })
}
