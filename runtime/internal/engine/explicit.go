package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// explicit is a transaction between BEGIN and COMMIT, which calls of handlers need.
type explicit struct {
	*transaction
	session *session.Session
	calls   *handler.Transaction
	d       *decide.Decision
	a       *chain.Attempt       // what the commit will have done
	checks  []pipeline.Statement // of what the last call left; sent before pending
	pending []pipeline.Statement // to be sent in the next round trip
	last    *wire.Call           // the handler that was called last; nil before the first call
	fitted  bool                 // lock_timeout is set for handlers
	marker  string               // name of the savepoint of mark, which is set or will be set by the checks
	written time.Time            // when the row was appended; zero while that is pending
}

// explicit is the transaction behind a BEGIN.
func (t *transaction) explicit(tx pgx.Tx, d *decide.Decision, a *chain.Attempt, pending []pipeline.Statement) *explicit {
	p, conn := t.o.p, t.conn.Conn()
	calls := p.process.Handlers.In(p.id, conn, tx, p.overtime)
	return &explicit{transaction: t, session: session.Of(conn.PgConn()), calls: calls, d: d, a: a, pending: pending}
}

// inTurn sends statements and calls handlers alternately, between BEGIN and COMMIT. A handler sees
// all effects of earlier records of the batch.
func (t *transaction) inTurn(ctx context.Context, d *decide.Decision, a *chain.Attempt) (written time.Time, err error) {
	conn := t.conn.Conn()
	tx, err := chain.Begin(ctx, conn)
	if err != nil {
		return written, err
	}
	written, err = t.explicit(tx, d, a, t.begins(d, a)).run(ctx)
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

// steps carries out the steps of the transaction's records in order, and commits. An unknown stage
// is a bug in the runtime.
func (x *explicit) steps(ctx context.Context) error {
	for i := 0; i < len(x.d.Steps); i++ {
		switch step := x.d.Steps[i]; step.Stage {
		case wire.Statement:
			x.pending = append(x.pending, x.write(step)...)
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
			i = x.lastCall() // the remaining steps contain no other call
		default:
			panic("idem: a transaction has a stage that nothing runs")
		}
	}
	return x.commit(ctx)
}

// lastCall returns the index of the step of the handler that was called last. All steps before it
// were sent, even if they are now divided into other statements.
func (x *explicit) lastCall() int {
	i := slices.IndexFunc(x.d.Steps, func(s wire.Step) bool {
		return s.Stage == wire.GoCall && s.Call.Message.Offset == x.last.Message.Offset
	})
	if i < 0 {
		panic("idem: a transaction that ends early lost the call that it ends with")
	}
	return i
}

// call sends the pending statements, if there are any, and then calls a handler.
func (x *explicit) call(ctx context.Context, call *wire.Call) error {
	if !x.fitted || x.o.restores {
		x.pending = append(x.pending, x.fitLocks())
	}
	if len(x.checks)+len(x.pending) > 0 {
		if err := x.flush(ctx); err != nil {
			return err
		}
	}
	left, err := x.calls.Call(ctx, call, x.w.retries.Attempt(call.Message.Offset))
	x.last = call
	if err != nil {
		return x.failed(ctx, left, err)
	}
	if x.o.restores {
		left |= handler.Session
	}
	if left&handler.Session != 0 {
		x.check(pool.Restore(x.session)...)
	} else if left != 0 {
		x.check()
	}
	if left&handler.Savepoint != 0 {
		x.mark()
	}
	if left == 0 {
		x.w.retries.Succeeded(call.Message.Offset)
	}
	return fault.At(ctx, fault.AfterHandler)
}

// check adds statements that undo what the last call left in the session, and then check that the
// transaction is still the one that appended, and that it is not read-only.
func (x *explicit) check(restore ...pipeline.Statement) {
	if x.fitted = len(restore) == 0; !x.fitted { // another transaction may be read-only
		restore = append(restore, x.o.chain.Own(x.a.Row.Token))
	}
	x.checks = append(restore, x.o.chain.Same(x.a.Row.Token))
}

// mark makes the checks set a savepoint after the last call. If a later call rolls back to a
// savepoint of an earlier call, or releases it, the runtime's savepoint is gone. The later call is
// then at fault, and nothing commits, so the records between the two calls are not lost.
func (x *explicit) mark() {
	if x.marker != "" {
		x.checks = append(x.checks, pipeline.Statement{SQL: `RELEASE SAVEPOINT ` + x.marker})
	} else { // a name that no handler can use
		x.marker = "idem_" + strings.ToLower(rand.Text())
	}
	x.checks = append(x.checks, pipeline.Statement{SQL: `SAVEPOINT ` + x.marker})
}

// failed returns the error of the last call. If the call ended the transaction and began another
// one, that is the error, whatever the call returned: what it wrote may be committed.
func (x *explicit) failed(ctx context.Context, left handler.Left, err error) error {
	conn := x.conn.Conn()
	if left&handler.Session == 0 || conn.IsClosed() || conn.PgConn().IsBusy() || conn.PgConn().TxStatus() != 'T' {
		return err
	}
	p := pipeline.New(ctx, conn)
	p.Add(pool.Restore(x.session)...)
	p.Add(x.o.chain.Own(x.a.Row.Token))
	_, failed := p.Run()
	if pg, ok := errors.AsType[*pgconn.PgError](failed); ok && chain.IsOther(pg) {
		return handler.EndedTransaction(x.last)
	}
	return err
}

// flush sends the pending statements in one round trip.
func (x *explicit) flush(ctx context.Context) error {
	p := pipeline.New(ctx, x.conn.Conn())
	p.Add(x.checks...)
	p.Add(x.pending...)
	r, err := p.Run()
	if err := x.answered(r, err); err != nil {
		return err
	}
	if x.written.IsZero() { // the append comes first
		x.written = chain.Written(r)
	}
	x.checks, x.pending, x.fitted = nil, nil, true
	return fault.At(ctx, fault.AfterAppend)
}

const commitSQL = `COMMIT`

// commit ends the transaction. Before that it checks that the transaction is still the one that
// appended, if nothing checked it since the last call.
func (x *explicit) commit(ctx context.Context) error {
	if err := fault.At(ctx, fault.BeforeCommit); err != nil {
		return err
	}
	if x.last != nil && x.checks == nil {
		x.check()
	}
	p := pipeline.New(ctx, x.conn.Conn())
	p.Add(x.checks...)
	p.Add(x.pending...)
	p.Add(x.ends(x.d)...)
	p.Add(chain.MayCommit())
	p.End(commitSQL)
	r, err, unclean := p.RunThen(pool.RestoreAll(x.session)...)
	if unclean != nil { // nevertheless the transaction is over
		_ = x.conn.Conn().Close(ctx)
	}
	if err := x.answered(r, err); err != nil {
		return err
	}
	if r.Tag != commitSQL {
		// A transaction that has failed before replies to COMMIT with ROLLBACK, without an error.
		return fmt.Errorf("idem: the transaction was rolled back at COMMIT: %w", verdict.ErrRolledBack)
	}
	return nil
}

// answered attributes an error of a round trip. An error of the checks, which undo what the last
// call changed and look for the append's row, is the handler's. If the checks succeeded, the call
// succeeded, whatever the later statements did.
func (x *explicit) answered(r pipeline.Reply, err error) error {
	if len(x.checks) == 0 {
		return err
	}
	if r.Answered >= len(x.checks) {
		x.w.retries.Succeeded(x.last.Message.Offset)
		return err
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return err
	case chain.IsOther(pg):
		return handler.EndedTransaction(x.last)
	case len(x.checks) == 1: // after plain calls, which change nothing that could be the cause
		return err
	case pg.Code == "3B001": // there is no savepoint of the name
		return handler.OtherSavepoint(x.last)
	case verdict.Of(pg) == verdict.Pooler: // the append was sent by its name in this transaction
		return handler.Deallocated(x.last)
	case pg.Code == "25006": // the append was written, so that the server is no standby
		return handler.ReadOnly(x.last)
	}
	return &verdict.HandlerError{Call: x.last, Err: pg}
}

var handlerLockWait = session.NewStatement("lock_timeout", `SELECT set_config('lock_timeout', $1::int::text, true)`)

// fitLocks limits a handler's wait for a lock to less than the handler's own timeout. Otherwise
// the handler's timeout would end first, and the handler would be blamed for the lock.
func (x *explicit) fitLocks() pipeline.Statement {
	l := x.o.limits()
	wait := pool.LockWait(pool.LockWait(l.LockTimeout, l.StatementTimeout), l.EventTimeout)
	return pipeline.Statement{Is: handlerLockWait, Args: [][]byte{ledger.Int4(int32(wait.Milliseconds()))}}
}
