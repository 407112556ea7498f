package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// explicit is a transaction between BEGIN and COMMIT, which calls of handlers need.
type explicit struct {
	o       *Owner
	conn    *pgx.Conn
	session *session.Session
	calls   *handler.Transaction
	d       *decide.Decision
	settles *deadletter.Settling // as the transaction's
	a       *chain.Attempt       // what it will have done when it commits
	pending []pipeline.Statement // to be sent in the next round trip
	last    *wire.Call           // the handler that was called last; nil before the first call
	checks  int                  // how many of pending check what the last call left; they come first
	fitted  bool                 // locks are waited for as handlers may
	written time.Time            // when the row was appended; zero if that is pending
}

func (t *transaction) explicit(tx pgx.Tx, d *decide.Decision, a *chain.Attempt, pending []pipeline.Statement) *explicit {
	o, conn := t.o, t.conn.Conn()
	return &explicit{
		o: o, conn: conn, session: session.Of(conn.PgConn()), calls: o.p.process.Handlers.In(o.p.id, conn, tx, o.p.overtime),
		d: d, settles: t.settles, a: a, pending: pending,
	}
}

// sendExplicit runs a transaction with handler calls. Each stage is sent in one round
// trip; a handler sees all that earlier records of the batch did.
func (t *transaction) sendExplicit(ctx context.Context, d *decide.Decision, a *chain.Attempt, pending []pipeline.Statement) (written time.Time, err error) {
	conn := t.conn.Conn()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return written, err
	}
	written, err = t.explicit(tx, d, a, pending).run(ctx)
	if err != nil {
		pool.Abandon(ctx, conn)
	}
	return written, err
}

// run runs the transaction. It begins with the append, unless the append was sent already.
func (x *explicit) run(ctx context.Context) (time.Time, error) {
	err := x.calls.Run(ctx, x.steps)
	return x.written, err
}

// steps does what the transaction's records do, in their order, and commits. A stage that it
// does not know is a bug of the runtime.
func (x *explicit) steps(ctx context.Context) error {
	for i := 0; i < len(x.d.Steps); i++ {
		switch step := x.d.Steps[i]; step.Stage {
		case wire.Statement:
			x.pending = append(x.pending, x.o.decider.Write(step))
		case wire.GoCall:
			if !x.endsEarly(ctx, step.Call) {
				if err := x.call(ctx, step.Call); err != nil {
					return err
				}
				continue
			}
			if err := x.shorten(step.Call.Message.Offset); err != nil {
				return err
			}
			i = x.lastCall() // the steps that are left hold no other call
		default:
			panic("idem: a transaction has a stage that nothing runs")
		}
	}
	return x.commit(ctx)
}

// lastCall is the step of the handler that was called last. All steps before it were sent, also
// if they are cut into other statements now.
func (x *explicit) lastCall() int {
	i := slices.IndexFunc(x.d.Steps, func(s wire.Step) bool {
		return s.Stage == wire.GoCall && s.Call.Message.Offset == x.last.Message.Offset
	})
	if i < 0 {
		panic("idem: a transaction that ends early lost the call that it ends with")
	}
	return i
}

// call sends what is pending, if anything is, and then calls a handler.
func (x *explicit) call(ctx context.Context, call *wire.Call) error {
	if !x.fitted {
		x.pending = append(x.pending, x.fitLocks())
	}
	if len(x.pending) > 0 {
		if err := x.flush(ctx); err != nil {
			return err
		}
	}
	left, err := x.calls.Call(ctx, call, x.o.retry.Attempt(call.Message.Offset))
	if err != nil {
		return err
	}
	if x.last = call; left {
		x.check(pool.Restore(x.session)...)
	} else {
		x.o.retry.Succeeded(call.Message.Offset)
	}
	return fault.At(ctx, fault.AfterHandler)
}

// check has the server take back what the last call left, and then check that the transaction is
// still the one that appended. Both come before everything else that is pending.
func (x *explicit) check(restore ...pipeline.Statement) {
	x.pending = append(append(restore, x.o.chain.Same(x.a.Row.Token)), x.pending...)
	x.checks, x.fitted = len(restore)+1, len(restore) == 0
}

// flush sends what is pending in one round trip.
func (x *explicit) flush(ctx context.Context) error {
	p := pipeline.New(ctx, x.conn)
	p.Add(x.pending...)
	r, err := p.Run()
	if err := x.answered(r, err); err != nil {
		return err
	}
	if x.written.IsZero() { // the append comes first
		x.written = chain.Written(r)
	}
	x.pending, x.checks, x.fitted = nil, 0, true
	return fault.At(ctx, fault.AfterAppend)
}

const commitSQL = `COMMIT`

// commit ends the transaction. Before that it checks that the transaction is still the one that
// appended, if nothing checked it since the last call.
func (x *explicit) commit(ctx context.Context) error {
	if err := fault.At(ctx, fault.BeforeCommit); err != nil {
		return err
	}
	if x.last != nil && x.checks == 0 {
		x.check()
	}
	p := pipeline.New(ctx, x.conn)
	p.Add(x.pending...)
	p.Add(complete(x.o, x.d)...)
	p.Add(x.o.chain.Letters(x.d.Letters)...)
	p.Add(settle(x.o, x.settles)...)
	p.End(commitSQL)
	r, err, unclean := p.RunThen(pool.RestoreAll(x.session)...)
	if unclean != nil { // nevertheless the transaction is over
		_ = x.conn.Close(ctx)
	}
	if err := x.answered(r, err); err != nil {
		return err
	}
	if r.Tag != commitSQL {
		// A transaction that failed before answers COMMIT with ROLLBACK, and no error.
		return fmt.Errorf("idem: the transaction was rolled back at COMMIT: %w", verdict.ErrRolledBack)
	}
	return nil
}

// answered says whose error the reply to the pending statements is. The first x.checks of them
// take back what the last call changed, and check the append's row: their errors are the
// handler's. If they went well, the call succeeded, whatever the statements after them did.
func (x *explicit) answered(r pipeline.Reply, err error) error {
	if x.checks == 0 {
		return err
	}
	if r.Answered >= x.checks {
		x.o.retry.Succeeded(x.last.Message.Offset)
		return err
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return err
	case pg.TableName == "idem_assert":
		return handler.EndedTransaction(x.last)
	case x.checks == 1: // after plain calls, which change nothing that could be the cause
		return err
	case verdict.Of(pg) == verdict.Pooler: // statements that were prepared are gone
		return err
	case pg.Code == "25006": // the append was written, so that the server is no standby
		return handler.ReadOnly(x.last)
	}
	return &verdict.HandlerError{Call: x.last, Err: pg}
}

var handlerLockWait = session.NewStatement("lock_timeout", `SELECT set_config('lock_timeout', $1::int::text, true)`)

// fitLocks lets a handler wait for a lock for less than the handler's own time. Otherwise its
// time would be over first, and the handler would be blamed for the lock.
func (x *explicit) fitLocks() pipeline.Statement {
	l := x.o.limits()
	wait := pool.LockWait(pool.LockWait(l.LockTimeout, l.StatementTimeout), l.EventTimeout)
	return pipeline.Statement{Is: handlerLockWait, Args: [][]byte{ledger.Int4(int32(wait.Milliseconds()))}}
}
