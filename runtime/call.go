package idem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/wire"
)

// call runs one handler inside the transaction, with middleware around it. A handler that
// panics or ends its goroutine becomes an error. Without an error, left tells whether the
// handler's statements may have left something behind for what follows.
func (o *owner) call(batch context.Context, conn *pgx.Conn, tx pgx.Tx, call *wire.Call) (left bool, err error) {
	limits := o.c.service.Limits
	ctx, cancel := context.WithTimeout(batch, limits.EventTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, deliveryKey{}, &Delivery{
		Consumer: o.c.service.Consumer, Event: call.Event, Key: call.Key,
		Attempt: o.calls.attempt(call.Message.Offset), Message: *call.Message,
	})
	fn := HandlerFunc(call.Fn)
	for _, m := range slices.Backward(o.c.middleware) {
		fn = m(fn)
	}
	guarded := &handlerTx{tx: tx, life: newTxLife(), trace: &trace{texts: &o.c.texts}}
	err = o.contained(ctx, conn, guarded, fn, call)
	left = guarded.trace.left.Load()
	switch {
	case errors.Is(err, errIgnored):
		return false, o.halted(halt.Handler, call.Message.Offset, "handler "+call.Event+" does not end although its context has ended", nil)
	case errors.Is(batch.Err(), context.DeadlineExceeded):
		err = o.overdue(batch, "batch_timeout", limits.BatchTimeout, "", cmp.Or(err, batch.Err()))
		return false, &handlerError{call: call, err: err, late: true, left: left}
	case batch.Err() != nil, conn.IsClosed() && ctx.Err() == nil:
		return false, &handlerError{call: call, err: cmp.Or(err, batch.Err(), errConnection), outage: true, left: left}
	case conn.IsClosed(): // the event's own time was over in the middle of a statement
		err = &handlerError{call: call, err: cmp.Or(err, ctx.Err())}
	case conn.PgConn().IsBusy(): // abandon closes the connection
		err = &handlerError{call: call, err: cmp.Or(err, Permanent(errors.New("the handler left the result of a query open")))}
	default:
		err = o.outcome(conn, call, err)
	}
	if h, ok := errors.AsType[*handlerError](err); ok {
		h.left, h.err = left, o.overdue(ctx, "event_timeout", limits.EventTimeout, "", h.err)
	}
	return left, err
}

var errConnection = errors.New("the connection to the database was lost")

// outcome looks at the state in which a handler left the transaction.
func (o *owner) outcome(conn *pgx.Conn, call *wire.Call, err error) error {
	switch conn.PgConn().TxStatus() {
	case 'T':
		if err != nil {
			return &handlerError{call: call, err: err}
		}
		return nil
	case 'E': // a statement failed, whatever the handler returned
		failed := connectionOf(conn.PgConn()).failed
		if failed.Code == "25006" { // the append was written, so that the server is no standby
			return &handlerError{call: call, err: Permanent(errReadOnly)}
		}
		if told, ok := errors.AsType[*pgconn.PgError](err); ok && *told == *failed {
			return &handlerError{call: call, err: err}
		}
		return &handlerError{call: call, err: failed}
	}
	return o.endedByHandler(call)
}

// errReadOnly is a handler's SET TRANSACTION READ ONLY.
var errReadOnly = errors.New("the handler made its transaction read-only")

func (o *owner) endedByHandler(call *wire.Call) error {
	return o.halted(halt.Handler, call.Message.Offset, "handler "+call.Event+" ended the transaction, which belongs to the runtime", nil)
}

const (
	heed  = 500 * time.Millisecond // how long a handler may go on after its context has ended, and nobody hears of it
	grace = 5 * time.Second        // how long before the partition halts
)

// errIgnored says that a handler did not end although its context had.
var errIgnored = errors.New("the handler ignores its context")

// contained calls fn in a goroutine of its own, so that even runtime.Goexit comes back, and
// so does a handler that ignores its context. The latter still runs, and keeps a
// transaction that can never commit: its connection is closed.
func (o *owner) contained(ctx context.Context, conn *pgx.Conn, tx *handlerTx, fn HandlerFunc, call *wire.Call) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the handler ended its goroutine")
		defer func() {
			if r := recover(); r != nil {
				o.c.log.Error("a handler panicked", "topic", o.id.Topic, "partition", o.id.Number, "event", call.Event, "panic", panicText(r), "stack", string(debug.Stack()))
				err = Permanent(fmt.Errorf("the handler panicked: %s", panicText(r)))
			}
			done <- cmp.Or(tx.life.close(), err)
		}()
		err = fn(ctx, tx)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	t := time.NewTimer(heed)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
	}
	o.w.overtime(call.Event) // people hear of it while it still runs
	o.c.log.Error("a handler goes on although its context has ended", "topic", o.id.Topic, "partition", o.id.Number, "event", call.Event, "offset", call.Message.Offset)
	t.Reset(grace - heed)
	select {
	case err := <-done:
		o.w.overtime("")
		return err
	case <-t.C:
	}
	tx.life.cut()
	connectionOf(conn.PgConn()).kept = true
	_ = conn.PgConn().Conn().Close() // from under it: nothing of it may commit
	go func() {
		<-done
		o.w.overtime("")
		o.c.log.Info("a handler that ignored its context has ended", "topic", o.id.Topic, "partition", o.id.Number, "event", call.Event)
	}()
	return errIgnored
}
