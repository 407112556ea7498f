package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/retry"
	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// failed finds out what became of an attempt that was not acknowledged. When it was sent, as
// many attempts were open as before says.
func (t *transaction) failed(ctx context.Context, before int, a chain.Attempt, err error) (idemtype.Result, error) {
	called, byCall := errors.AsType[*verdict.HandlerError](err)
	if rolledBack(err) {
		var by *wire.Call
		if byCall && called.Left {
			by = called.Call
		}
		t.o.chain.RolledBack(before, a, by)
	}
	if byCall {
		return idemtype.Result{}, err
	}
	switch verdict.Of(err) {
	case verdict.Successor:
		return t.o.resolve(ctx, t.conn)
	case verdict.Gone:
		return idemtype.Result{}, t.o.fenced(protocol.Gone, "the ledger's row that this owner appends to is gone or another one")
	}
	return idemtype.Result{}, err
}

// rolledBack reports whether the failed attempt surely did not commit. Either the server said so,
// or a handler failed: then COMMIT was not sent.
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
func (o *Owner) resolve(ctx context.Context, conn *pgxpool.Conn) (idemtype.Result, error) {
	s, err := o.chain.Resolve(ctx, conn)
	if err != nil {
		return idemtype.Result{}, err
	}
	reason := "another owner appended to the ledger"
	switch s.Found {
	case chain.Nothing:
		reason = "the ledger's row behind this owner's is gone"
	case chain.Own:
		o.p.process.Log.Info("a transaction whose reply was lost had committed", "topic", o.p.id.Topic, "partition", o.p.id.Number, "seq", o.chain.Seq(), "next", s.Attempt.Row.Next)
		return o.moved(protocol.Own, s.Attempt, s.Written)
	case chain.ByCall:
		return idemtype.Result{}, handler.EndedTransaction(s.Attempt.By)
	case chain.ByOperator:
		reason = operatorActed
	case chain.ByFence:
		o.p.standby.rivals.fenced(o.p.process, o.life)
	}
	return idemtype.Result{}, o.fenced(protocol.Foreign, reason)
}

// conclude decides what follows from the outcome of a transaction over records, and takes the
// protocol's step for it. It returns nil if the owner can go on at once, and otherwise what
// its caller must know.
func (o *Owner) conclude(records []wire.Message, err error) error {
	if err == nil {
		o.retry.Passed(len(records) - len(o.unseen(records)))
		return nil
	}
	n, err := judge(o, records, err)
	if err != nil {
		return err
	}
	return o.follow(n)
}

// judge decides what is sent next after the error of a transaction over records. Its error is what
// the caller must know, if nothing is; the protocol's step for that was taken.
func judge(o *Owner, records []wire.Message, err error) (n retry.Next, _ error) {
	if fenced, ok := errors.AsType[*idemtype.FencedError](err); ok { // its step was taken
		return n, fenced
	}
	if halted, ok := errors.AsType[*idemtype.HaltedError](err); ok {
		return n, o.halt(halted)
	}
	if h, ok := errors.AsType[*verdict.Halt](err); ok {
		return n, o.halt(o.p.halted(h))
	}
	if _, unconnected := errors.AsType[*connectError](err); unconnected {
		// Nothing was sent, whatever the error is: the state stays, and no record is to blame.
		wait := &verdict.Later{Err: outage.InWords(verdict.Describe(err))}
		o.p.tell(o, wait)
		return n, wait
	}
	v := verdict.Judge(err, len(records))
	if v.Locked {
		o.chain.Locked()
	}
	if v.Doubt {
		o.chain.Doubt()
	}
	return o.retry.Next(records, v, o.about(records)), nil
}

// follow does what follows from a failed transaction.
func (o *Owner) follow(n retry.Next) error {
	if n.Search {
		o.p.process.Counters.Searches.Add(1)
	}
	if n.Halt != nil {
		return o.halt(o.p.halted(n.Halt))
	}
	if n.Later == nil {
		return o.step(n.Event, nil)
	}
	if err := o.step(n.Event, n.Later); err != nil {
		return err
	}
	return n.Later
}

// halt takes the step of a partition that needs a person.
func (o *Owner) halt(why *idemtype.HaltedError) error {
	event := protocol.Fatal
	if why.Code == halt.Runtime {
		event = protocol.Bug
	}
	if err := o.step(event, why); err != nil {
		return err
	}
	return why
}

// about is what is known of a record that was in a transaction alone.
func (o *Owner) about(records []wire.Message) retry.About {
	if len(records) != 1 {
		return retry.About{}
	}
	m := &records[0]
	policy := o.decider.Policy(m)
	if l, ok := o.retry.Refused()[m.Offset]; ok {
		policy = l.Policy
	}
	return retry.About{Event: o.decider.Event(), Policy: policy}
}
