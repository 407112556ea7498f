package idem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pgerror"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// explicit is a transaction with handler calls, while it runs.
type explicit struct {
	o       *owner
	conn    *pgx.Conn
	tx      pgx.Tx
	session *session.Session
	watch   *watchdog.Watch[*calling]
	w       *work
	a       *attempt    // what it will have done when it commits
	pending []statement // to be sent in the next round trip
	last    *wire.Call  // the handler that was called last; nil before the first call
	asked   int         // how many of pending look at what the last call left; they come first
	traced  bool        // the service looks at each statement of the driver
	fitted  bool        // locks are waited for as handlers may
	written time.Time   // when the row was appended; zero if that is pending
}

func (o *owner) explicit(conn *pgx.Conn, tx pgx.Tx, w *work, a *attempt, pending []statement) *explicit {
	return &explicit{o: o, conn: conn, tx: tx, session: session.Of(conn.PgConn()), w: w, a: a, pending: pending, traced: conn.Config().Tracer != nil}
}

// sendExplicit runs a transaction with handler calls. Each stage is sent in one round
// trip; a handler sees all that earlier records of the batch did.
func (o *owner) sendExplicit(ctx context.Context, conn *pgx.Conn, w *work, a *attempt, pending []statement) (written time.Time, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return written, err
	}
	written, err = o.explicit(conn, tx, w, a, pending).run(ctx)
	if err != nil {
		abandon(ctx, conn)
	}
	return written, err
}

// run runs the transaction, from the append on or, if that was written already, from
// behind it.
func (x *explicit) run(ctx context.Context) (time.Time, error) {
	err := x.watched(ctx, x.steps)
	return x.written, err
}

// steps does what the transaction's records do, in their order, and commits.
func (x *explicit) steps(ctx context.Context) error {
	for i := 0; i < len(x.w.steps); i++ {
		call := x.w.steps[i].Call
		switch {
		case call == nil:
			x.pending = append(x.pending, x.o.writeStatement(x.w.steps[i]))
		case x.late(ctx, call):
			if err := x.shorten(call.Message.Offset); err != nil {
				return err
			}
			i = x.lastCall() // what is left behind it holds no other one
		default:
			if err := x.call(ctx, call); err != nil {
				return err
			}
		}
	}
	return x.commit(ctx)
}

// lastCall is the step of the handler that was called last. All that stands before it was
// sent, however the steps before it were cut.
func (x *explicit) lastCall() int {
	i := slices.IndexFunc(x.w.steps, func(s wire.Step) bool { return s.Call != nil && s.Call.Message.Offset == x.last.Message.Offset })
	if i < 0 {
		panic("idem: a transaction that ends early lost the call that it ends with")
	}
	return i
}

// call sends what is pending, if anything is, and then calls a handler.
func (x *explicit) call(ctx context.Context, call *wire.Call) error {
	if !x.fitted {
		x.pending = append(x.pending, x.o.lockStatement())
	}
	if len(x.pending) > 0 {
		if err := x.flush(ctx); err != nil {
			return err
		}
	}
	left, err := x.invoke(ctx, call)
	if err != nil {
		return err
	}
	if x.last = call; left {
		x.ask(clean(x.session)...)
	} else {
		x.o.calls.succeeded(call.Message.Offset)
	}
	return fault.At(ctx, fault.AfterHandler)
}

// ask has the server look, before anything else is done, whether the transaction is still
// the one that appended, behind statements that take back what the last call left.
func (x *explicit) ask(clean ...statement) {
	x.pending = append(append(clean, x.o.ownStatement(x.a.row.Token)), x.pending...)
	x.asked, x.fitted = len(clean)+1, len(clean) == 0
}

// flush sends what is pending in one round trip.
func (x *explicit) flush(ctx context.Context) error {
	p := newPipeline(ctx, x.conn)
	p.add(x.pending...)
	r, err := p.run()
	if err := x.heard(r, err); err != nil {
		return err
	}
	if x.written.IsZero() { // the append comes first
		x.written = r.written()
	}
	x.pending, x.asked, x.fitted = nil, 0, true
	return fault.At(ctx, fault.AfterAppend)
}

// commit ends the transaction. Whether that is still the one that appended, which plain
// statements of handlers cannot change, is asked here if it was not before.
func (x *explicit) commit(ctx context.Context) error {
	if err := fault.At(ctx, fault.BeforeCommit); err != nil {
		return err
	}
	if x.last != nil && x.asked == 0 {
		x.ask()
	}
	p := newPipeline(ctx, x.conn)
	p.add(x.pending...)
	p.add(x.o.letterStatements(x.w.letters)...)
	p.p.SendQueryParams(commitSQL, nil, nil, nil, nil)
	r, err, unclean := p.runThen(leave(x.session)...)
	if unclean != nil { // the transaction is over all the same
		_ = x.conn.Close(ctx)
	}
	if err := x.heard(r, err); err != nil {
		return err
	}
	if r.tag != commitSQL {
		// A transaction that failed before answers COMMIT with ROLLBACK, and no error.
		return fmt.Errorf("idem: the transaction was rolled back at COMMIT: %w", errRolledBack)
	}
	return nil
}

// heard judges the reply to what was pending. The last handler is to blame for an error of
// the statements that stand behind its call: they take back what it changed and ask for the
// append's row. If they went well, its call did, whatever comes behind it.
func (x *explicit) heard(r reply, err error) error {
	if x.asked == 0 {
		return err
	}
	if r.answered >= x.asked {
		x.o.calls.succeeded(x.last.Message.Offset)
		return err
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return err
	case pg.TableName == "idem_assert":
		return x.o.endedByHandler(x.last)
	case x.asked == 1: // behind plain calls, which change nothing that could be the cause
		return err
	case pgerror.Of(pg) == pgerror.Pooler: // statements that were prepared are gone
		return err
	case pg.Code == "25006": // the append was written, so that the server is no standby
		return &handlerError{call: x.last, err: Permanent(errReadOnly)}
	}
	return &handlerError{call: x.last, err: pg}
}

var errRolledBack = errors.New("an error in it was swallowed")

// abandon ends a failed transaction: by ROLLBACK if the connection is sound, else by
// closing it. The time of the transaction may be over; that of its end begins now.
func abandon(ctx context.Context, conn *pgx.Conn) {
	if connectionOf(conn.PgConn()).kept {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelPatience)
	defer cancel()
	if !conn.IsClosed() && !conn.PgConn().IsBusy() {
		p := newPipeline(ctx, conn)
		p.p.SendQueryParams("ROLLBACK", nil, nil, nil, nil)
		if _, err, unclean := p.runThen(leave(session.Of(conn.PgConn()))...); err == nil && unclean == nil {
			return
		}
	}
	_ = conn.Close(ctx) // it is of no use any more, whatever Close says
}

// ownStatement is refused unless the transaction is the one that appended.
func (o *owner) ownStatement(token UUID) statement {
	return statement{is: ownTransaction, args: [][]byte{ledger.Int4(o.stream), ledger.Int8(o.tail.Seq + 1), token[:]}}
}

// lockStatement has a lock that a handler waits for be given up before the handler's own
// time is over: nobody could tell then what it waited for, and it would be blamed.
func (o *owner) lockStatement() statement {
	wait := within(o.c.lockTimeout(), o.c.service.Limits.EventTimeout)
	return statement{is: handlerLockWait, args: [][]byte{ledger.Int4(int32(wait.Milliseconds()))}}
}

// lockTimeout is how long a statement waits for a lock, for the same reason.
func (c *Consumer) lockTimeout() time.Duration {
	return within(c.service.Limits.LockTimeout, c.service.Limits.StatementTimeout)
}

// within is lock, or half of what it must end in; never zero, which is no limit.
func within(lock, most time.Duration) time.Duration { return max(min(lock, most/2), time.Millisecond) }
