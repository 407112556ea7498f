package idem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// sendExplicit runs a transaction with handler calls. Each stage is sent in one round
// trip; a handler sees all that earlier records of the batch did.
func (o *owner) sendExplicit(ctx context.Context, conn *pgx.Conn, w *work, token UUID, pending []statement) (written time.Time, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return written, err
	}
	written, err = o.stages(ctx, conn, tx, w, token, pending, time.Time{})
	if err != nil {
		abandon(ctx, conn)
	}
	return written, err
}

// stages runs the transaction, from the append on or, if that was written already, from
// behind it.
func (o *owner) stages(ctx context.Context, conn *pgx.Conn, tx pgx.Tx, w *work, token UUID, pending []statement, written time.Time) (time.Time, error) {
	own := session.Of(conn.PgConn())
	var last *wire.Call
	for i := range w.steps {
		call := w.steps[i].Call
		if call == nil {
			pending = append(pending, o.writeStatement(w.steps[i]))
			continue
		}
		p := newPipeline(ctx, conn)
		p.add(pending...)
		p.add(o.lockStatement())
		r, err := p.run()
		if err != nil {
			return written, o.behind(last, r, err)
		}
		if written.IsZero() { // the append comes first
			written = r.written()
		}
		if err := fault.At(ctx, fault.AfterAppend); err != nil {
			return written, err
		}
		if err := o.call(ctx, conn, tx, call); err != nil {
			return written, err
		}
		last, pending = call, append(clean(own), o.ownStatement(token))
		if err := fault.At(ctx, fault.AfterHandler); err != nil {
			return written, err
		}
	}
	if err := fault.At(ctx, fault.BeforeCommit); err != nil {
		return written, err
	}
	p := newPipeline(ctx, conn)
	p.add(pending...)
	p.add(o.letterStatements(w.letters)...)
	p.p.SendQueryParams(commitSQL, nil, nil, nil, nil)
	r, err, unclean := p.runThen(leave(own)...)
	if unclean != nil { // the transaction is over all the same
		_ = conn.Close(ctx)
	}
	if err != nil {
		return written, o.behind(last, r, err)
	}
	if r.tag != commitSQL {
		// A transaction that failed before answers COMMIT with ROLLBACK, and no error.
		return written, fmt.Errorf("idem: the transaction was rolled back at COMMIT: %w", errRolledBack)
	}
	return written, nil
}

// behind blames the last handler for an error of the statements that stand behind its call:
// they take back what it changed and ask for the append's row.
func (o *owner) behind(last *wire.Call, r reply, err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || last == nil || r.answered > cleaning {
		return err
	}
	switch {
	case pg.TableName == "idem_assert":
		return o.endedByHandler(last)
	case classify(pg) == classPooler: // statements that were prepared are gone
		return err
	case pg.Code == "25006": // the append was written, so that the server is no standby
		return &handlerError{call: last, err: Permanent(errReadOnly)}
	}
	return &handlerError{call: last, err: pg}
}

var errRolledBack = errors.New("an error in it was swallowed")

// abandon ends a failed transaction: by ROLLBACK if the connection is sound, else by
// closing it.
func abandon(ctx context.Context, conn *pgx.Conn) {
	if connectionOf(conn.PgConn()).kept {
		return
	}
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
	l := o.c.service.Limits
	wait := max(min(l.LockTimeout, l.EventTimeout/2), time.Millisecond)
	return statement{is: handlerLockWait, args: [][]byte{ledger.Int4(int32(wait.Milliseconds()))}}
}
