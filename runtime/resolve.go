package idem

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// resolve is called when a row stands at tail.seq+1. If its token is that of one of our
// attempts, that attempt committed, whatever became of its reply: the owner adopts it, with
// its own boundary and results. Otherwise another owner appended.
func (o *owner) resolve(ctx context.Context, conn *pgxpool.Conn) (Result, error) {
	var token UUID
	var next int64
	err := conn.QueryRow(ctx, rowSQL, o.stream, o.tail.seq+1).Scan(&token, &next)
	if errors.Is(err, pgx.ErrNoRows) {
		return Result{}, o.fenced("the ledger's row behind this owner's is gone")
	}
	if err != nil {
		return Result{}, err
	}
	i := slices.IndexFunc(o.attempts, func(a attempt) bool { return a.token == token })
	if i < 0 {
		return Result{}, o.fenced("another owner appended to the ledger")
	}
	o.c.log.Info("a transaction whose reply was lost had committed", "topic", o.id.Topic, "partition", o.id.Number, "seq", o.tail.seq+1, "next", next)
	return o.settle(o.attempts[i]), nil
}
