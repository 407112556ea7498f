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
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// calling is one call of a handler: what the handler gets, and what the runtime knows of it.
type calling struct {
	call     *wire.Call
	tx       handlerTx
	ctx      callContext
	life     txLife
	trace    trace
	delivery Delivery
	err      error // of the handler
}

// callContext is a handler's context.
type callContext struct {
	*watchdog.Context
	of *Delivery
}

// Value knows what the handler was called for.
func (c *callContext) Value(key any) any {
	if _, ok := key.(deliveryKey); ok {
		return c.of
	}
	return c.Context.Value(key)
}

func (x *explicit) calling(call *wire.Call) *calling {
	c := &calling{call: call, delivery: Delivery{
		Consumer: x.o.c.service.Consumer, Event: call.Event, Key: call.Key,
		Attempt: x.o.calls.attempt(call.Message.Offset), Message: *call.Message,
	}}
	c.life.idle.L = &c.life.mu
	c.trace.texts = &x.o.c.texts
	c.ctx.of = &c.delivery
	c.tx = handlerTx{tx: x.tx, life: &c.life, trace: &c.trace}
	if !x.traced { // a tracer may ask a statement's context for the call
		c.tx.own = &c.ctx
	}
	return c
}

// invoke runs one handler inside the transaction, with middleware around it. A handler that
// panics becomes an error. Without an error, left tells whether the handler's statements may
// have left something behind for what follows.
func (x *explicit) invoke(batch context.Context, call *wire.Call) (left bool, err error) {
	fn := HandlerFunc(call.Fn)
	for _, m := range slices.Backward(x.o.c.middleware) {
		fn = m(fn)
	}
	c := x.calling(call)
	defer func() { c.ctx.End() }()
	err = x.watch.Call(c, func(ctx *watchdog.Context) error {
		c.ctx.Context = ctx
		x.o.contained(c, fn)
		return c.err
	})
	return c.trace.left.Load(), x.judge(batch, c, err)
}

// contained calls fn, and keeps its error. What it panics with is one, too, and so are a
// goroutine that it ended and a statement that it left running.
func (o *owner) contained(c *calling, fn HandlerFunc) {
	c.err = errExit // until it returns
	defer func() {
		if r := recover(); r != nil {
			o.c.log.Error("a handler panicked", "topic", o.id.Topic, "partition", o.id.Number, "event", c.call.Event, "panic", panicText(r), "stack", string(debug.Stack()))
			c.err = Permanent(fmt.Errorf("the handler panicked: %s", panicText(r)))
		}
		c.err = cmp.Or(c.life.close(), c.err)
	}()
	c.err = fn(&c.ctx, &c.tx)
}

var errExit = errors.New("the handler ended its goroutine")

// judge finds out what became of a call that returned err.
func (x *explicit) judge(batch context.Context, c *calling, err error) error {
	limits, left := x.o.c.service.Limits, c.trace.left.Load()
	switch {
	case outOfTime(batch):
		err = x.o.overdue(batch, "batch_timeout", limits.BatchTimeout, "", cmp.Or(err, batch.Err(), context.DeadlineExceeded))
		return &handlerError{call: c.call, err: err, late: true, left: left}
	case batch.Err() != nil, x.conn.IsClosed() && !c.ctx.Over():
		return &handlerError{call: c.call, err: cmp.Or(err, batch.Err(), errConnection), outage: true, left: left}
	case x.conn.IsClosed(): // the event's own time was over in the middle of a statement
		err = &handlerError{call: c.call, err: cmp.Or(err, c.ctx.Err())}
	case x.conn.PgConn().IsBusy(): // abandon closes the connection
		err = &handlerError{call: c.call, err: cmp.Or(err, Permanent(errors.New("the handler left the result of a query open")))}
	default:
		err = x.o.outcome(x.conn, c.call, err)
	}
	if h, ok := errors.AsType[*handlerError](err); ok {
		h.left, h.err = left, x.o.overdue(&c.ctx, "event_timeout", limits.EventTimeout, "", h.err)
	}
	return err
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

// watched runs work, which calls handlers, on a goroutine of its own: a handler may end that,
// and one that ignores its context keeps it, and a transaction that can never commit.
func (x *explicit) watched(ctx context.Context, work func(context.Context) error) error {
	o := x.o
	c, err := watchdog.Run(ctx, watchdog.Rules[*calling]{
		Limit: o.c.service.Limits.EventTimeout, Heed: heed, Grace: grace,
		Late: func(c *calling) { // people hear of it while it still runs
			o.w.overtime(c.call.Event)
			o.c.log.Error("a handler goes on although its context has ended", "topic", o.id.Topic, "partition", o.id.Number, "event", c.call.Event, "offset", c.delivery.Message.Offset)
		},
		Leave: func(c *calling) {
			c.life.cut()
			connectionOf(x.conn.PgConn()).kept = true
			_ = x.conn.PgConn().Conn().Close() // from under it: nothing of it may commit
		},
		End: func(c *calling, left bool) {
			o.w.overtime("")
			if left {
				o.c.log.Info("a handler that ignored its context has ended", "topic", o.id.Topic, "partition", o.id.Number, "event", c.call.Event)
			}
		},
	}, func(w *watchdog.Watch[*calling]) error {
		x.watch = w
		return work(ctx)
	})
	switch {
	case errors.Is(err, watchdog.ErrLeft):
		return o.halted(halt.Handler, c.delivery.Message.Offset, "handler "+c.delivery.Event+" does not end although its context has ended", nil)
	case errors.Is(err, watchdog.ErrExit):
		return x.judge(ctx, c, c.err)
	}
	return err
}

const (
	heed  = 500 * time.Millisecond // how long a handler may go on after its context has ended, and nobody hears of it
	grace = 5 * time.Second        // how long before the partition halts
)
