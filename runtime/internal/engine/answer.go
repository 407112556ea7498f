package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// unacknowledged determines the outcome of an attempt that was not acknowledged. before is the
// number of attempts that were open when it was sent.
func (t *transaction) unacknowledged(ctx context.Context, before int, err error) outcome {
	if rolledBack(err) {
		t.o.chain.RolledBack(before)
	}
	if _, byCall := errors.AsType[*verdict.HandlerError](err); byCall {
		return failure(err)
	}
	switch verdict.Of(err) {
	case verdict.Successor:
		return t.resolve(ctx)
	case verdict.Gone:
		return t.o.fenced(protocol.Gone, "the ledger row that this owner appends to is gone or was replaced")
	}
	return failure(err)
}

// rolledBack reports whether the failed attempt certainly did not commit: either the server
// reported that, or a handler failed, and COMMIT was not sent.
func rolledBack(err error) bool {
	if _, byCall := errors.AsType[*verdict.HandlerError](err); byCall {
		return true
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && verdict.OfState(pg) != verdict.Doubt && !strings.HasPrefix(pg.Code, "57P")
}

// resolve is called when there is a row after the tail. If the row is one of our attempts, that
// attempt committed although its reply was lost: it counts, with its own boundary and results.
// Otherwise another owner appended the row.
func (t *transaction) resolve(ctx context.Context) outcome {
	o := t.o
	s, err := o.chain.Resolve(ctx, t.conn)
	if err != nil {
		return failure(err)
	}
	reason := "another owner appended to the ledger"
	switch s.Found {
	case chain.Nothing:
		reason = "the ledger's row after this owner's is gone"
	case chain.Own:
		o.p.process.Log.Info("a transaction whose reply was lost had committed", "topic", o.p.id.Topic, "partition", o.p.id.Number, "seq", o.chain.Seq(), "next", s.Committed.Attempt().Row.Next)
		return o.advance(protocol.Own, s.Committed)
	case chain.ByOperator:
		reason = operatorActed
	case chain.ByFence:
		o.p.standby.rivals.fenced(o.p.process, o.life)
	}
	return o.fenced(protocol.Foreign, reason)
}
