package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

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

// explicit is a transaction between BEGIN and COMMIT, which calls of handlers need. It collects
// what it has to send, and sends it when a handler needs an answer, at the latest with COMMIT.
type explicit struct {
	*transaction
	session  *session.Session
	calls    *handler.Transaction
	d        *decide.Decision
	a        *chain.Attempt // what the commit will have done
	pending  []pending      // to be sent in the next round trip
	spare    []pending      // empty: memory of what was answered
	behind   int            // how many of them were pending after the last call
	queued   size           // what handlers queued of them
	last     *wire.Call     // the handler that was called last; nil before the first call
	began    bool           // BEGIN was sent
	checked  bool           // nothing of a handler comes after the last check
	fitted   bool           // lock_timeout is set for handlers, as soon as pending is sent
	marker   string         // name of the savepoint of mark, which is set or will be set by the checks
	appended chain.Stamp    // zero while that is pending
	acked    chain.Committed
	err      error // why the transaction has failed
}

// explicit returns the transaction that begins with statements.
func (t *transaction) explicit(d *decide.Decision, a *chain.Attempt, first ...pipeline.Statement) *explicit {
	p, conn := t.o.p, t.conn.Conn()
	x := &explicit{transaction: t, session: session.Of(conn.PgConn()), d: d, a: a, checked: true, pending: t.o.spare}
	t.o.spare = nil // a handler that ignores its context keeps it
	x.calls = p.process.Handlers.In(p.id, conn, x, p.overtime)
	x.add(first...)
	return x
}

// inTurn calls handlers between the statements of a transaction, between BEGIN and COMMIT. A
// handler sees all effects of earlier records of the batch.
func (t *transaction) inTurn(ctx context.Context, d *decide.Decision, a *chain.Attempt) (acked chain.Committed, err error) {
	x := t.explicit(d, a, append(chain.Begin(), t.begins(d, a)...)...)
	acked, err = x.run(ctx)
	if err != nil && x.began {
		pool.Abandon(ctx, t.conn.Conn())
	}
	if err == nil {
		t.o.keep(x.pending, x.spare)
	}
	return acked, err
}

// run runs the transaction. It begins with the append, unless the append was sent already.
func (x *explicit) run(ctx context.Context) (chain.Committed, error) {
	err := x.calls.Run(ctx, x.steps)
	return x.acked, err
}

// steps carries out the steps of the transaction's records in order, and commits. An unknown stage
// is a bug in the runtime.
func (x *explicit) steps(ctx context.Context) error {
	for i := 0; i < len(x.d.Steps); i++ {
		switch step := x.d.Steps[i]; step.Stage {
		case wire.Statement:
			x.add(x.write(step)...)
		case wire.GoCall:
			if !x.endsEarly(ctx, step.Call) {
				if err := x.call(ctx, step.Call); err != nil {
					return err
				}
				continue
			}
			if err := x.shorten(ctx, step.Call.Message.Offset); err != nil {
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

// call calls a handler. What is pending is sent before its first statement that waits for an
// answer.
func (x *explicit) call(ctx context.Context, call *wire.Call) error {
	if !x.fitted || x.o.restores {
		x.add(x.fitLocks())
		x.fitted = true
	}
	if !x.began && x.o.chain.Open() > 1 { // if an earlier attempt has committed, nothing is to be called
		if err := x.Flush(ctx); err != nil {
			return err
		}
	}
	x.last, x.checked = call, false
	left, err := x.calls.Call(ctx, call, x.w.retries.Attempt(call.Message.Offset))
	switch {
	case x.err != nil: // and what the handler made of it does not count
		return x.err
	case err != nil:
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
	if n := len(x.pending); n > 0 && x.pending[n-1].of == call {
		x.pending[n-1].ends = true
	} else {
		x.w.retries.Succeeded(call.Message.Offset)
	}
	x.behind = len(x.pending)
	if x.full() {
		if err := x.Flush(ctx); err != nil {
			return err
		}
	}
	return fault.At(ctx, fault.AfterHandler)
}

// Began implements [handler.Outlet].
func (x *explicit) Began() bool { return x.began }

// check adds statements that undo what the last call left in the session, and then check that the
// transaction is still the one that appended, and that it is not read-only.
func (x *explicit) check(restore ...pipeline.Statement) {
	is := checks
	if len(restore) > 0 { // another transaction may be read-only
		is, restore = restores, append(restore, x.o.chain.Own(x.a.Row.Token))
		x.fitted = false
	}
	x.checks(is, append(restore, x.o.chain.Same(x.a.Row.Token))...)
	x.checked = true
}

func (x *explicit) checks(is kind, statements ...pipeline.Statement) {
	for _, s := range statements {
		x.pending = append(x.pending, pending{Statement: s, of: x.last, is: is})
	}
}

// mark makes the checks set a savepoint after the last call. If a later call rolls back to a
// savepoint of an earlier call, or releases it, the runtime's savepoint is gone. The later call is
// then at fault, and nothing commits, so the records between the two calls are not lost.
func (x *explicit) mark() {
	if x.marker != "" {
		x.checks(restores, pipeline.Statement{SQL: `RELEASE SAVEPOINT ` + x.marker})
	} else { // a name that no handler can use
		x.marker = "idem_" + strings.ToLower(rand.Text())
	}
	x.checks(restores, pipeline.Statement{SQL: `SAVEPOINT ` + x.marker})
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

// Flush implements [handler.Outlet].
func (x *explicit) Flush(ctx context.Context) error {
	if x.err != nil || len(x.pending) == 0 {
		return x.err
	}
	p := pipeline.New(ctx, x.conn.Conn())
	sent, since := x.send(p), time.Now()
	r, err := p.Run()
	x.paced(sent, r, time.Since(since))
	if x.err = x.answered(sent, r, err, false); x.err != nil {
		return x.err
	}
	clear(sent)
	x.spare = sent[:0]
	if x.appended == (chain.Stamp{}) { // the append comes first
		x.appended = chain.Appended(r)
	}
	x.err = fault.At(ctx, fault.AfterAppend)
	return x.err
}

const commitSQL = `COMMIT`

// commit ends the transaction. Before that it checks that the transaction is still the one that
// appended, if nothing checked it since the last call, and runs the callbacks of what is queued.
func (x *explicit) commit(ctx context.Context) error {
	if err := fault.At(ctx, fault.BeforeCommit); err != nil {
		return err
	}
	if !x.checked {
		x.check()
	}
	if x.asks() {
		if err := x.Flush(ctx); err != nil {
			return err
		}
	}
	p := pipeline.New(ctx, x.conn.Conn())
	sent, since := x.send(p), time.Now()
	p.Add(x.ends(x.d)...)
	p.Add(chain.MayCommit())
	p.End(commitSQL)
	r, err, unclean := p.RunThen(pool.RestoreAll(x.session)...)
	x.paced(sent, r, time.Since(since))
	if unclean != nil { // nevertheless the transaction is over
		_ = x.conn.Conn().Close(ctx)
	}
	if err := x.answered(sent, r, err, true); err != nil {
		return err
	}
	clear(sent)
	x.spare = sent[:0]
	if x.appended == (chain.Stamp{}) {
		x.appended = chain.Appended(r)
	}
	x.acked, err = x.a.Acknowledged(r, x.appended)
	return err
}

// answered attributes an error of a round trip. An error of a queued statement is that of the call
// that queued it. An error of the checks, which undo what a call changed and look for the append's
// row, is the call's, too. If COMMIT was sent as well, an error that is not the server's reply to
// a statement before it says nothing: the transaction may have committed.
func (x *explicit) answered(sent []pending, r pipeline.Reply, err error, commits bool) error {
	for i := range min(r.Answered, len(sent)) {
		if sent[i].ends {
			x.w.retries.Succeeded(sent[i].of.Message.Offset)
		}
	}
	if err == nil || r.Answered >= len(sent) {
		return err
	}
	failed := &sent[r.Answered]
	pg, replied := errors.AsType[*pgconn.PgError](err)
	switch {
	case failed.of == nil, commits && (!replied || strings.HasPrefix(pg.Code, "57P")):
		return err
	case failed.is == write:
		return x.calls.Failed(failed.of, failed.Statement, err)
	case !replied:
		return err
	case chain.IsOther(pg):
		return handler.EndedTransaction(failed.of)
	case failed.is == checks: // after plain calls, which change nothing that could be the cause
		return err
	case pg.Code == "3B001": // there is no savepoint of the name
		return handler.OtherSavepoint(failed.of)
	case verdict.Of(pg) == verdict.Pooler: // the append was sent by its name in this transaction
		return handler.Deallocated(failed.of)
	case pg.Code == "25006": // the append was written, so that the server is no standby
		return handler.ReadOnly(failed.of)
	}
	return &verdict.HandlerError{Call: failed.of, Err: pg}
}

var handlerLockWait = session.NewStatement("lock_timeout", `SELECT set_config('lock_timeout', $1::int::text, true)`)

// fitLocks limits a handler's wait for a lock to less than the handler's own timeout. Otherwise
// the handler's timeout would end first, and the handler would be blamed for the lock.
func (x *explicit) fitLocks() pipeline.Statement {
	l := x.o.limits()
	wait := pool.LockWait(pool.LockWait(l.LockTimeout, l.StatementTimeout), l.EventTimeout)
	return pipeline.Statement{Is: handlerLockWait, Args: [][]byte{ledger.Int4(int32(wait.Milliseconds()))}}
}
