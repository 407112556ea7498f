// Package handler calls the service's handlers inside a transaction. It defines what a handler
// receives and what it may change in the session, and deals with handlers that panic, run too
// long, or end the transaction. The engine begins and commits the transaction.
//
//	Caller (of a process) -> Transaction (its calls, on one goroutine) -> Call -> handlerTx
//
// Each call ends with a fact: nil, a [verdict.HandlerError], or a [verdict.Halt]. It must not
// import any package of this module but footprint, halt, idemtype, outage, pipeline, pool,
// session, verdict, watchdog and wire.
package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/footprint"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Caller contains what all calls of handlers in a process share.
type Caller struct {
	Consumer   string
	Limits     *wire.Limits
	Middleware []idemtype.Middleware
	Log        *slog.Logger
	texts      footprint.Memo // of handlers' statements
}

// Transaction is one transaction that calls handlers.
type Transaction struct {
	caller    *Caller
	partition idemtype.Partition
	overtime  func(event string) // is called with the event of a handler that runs too long, and with "" when it has ended
	conn      *pgx.Conn
	prepared  *prepared // on conn
	out       Outlet
	ctx       context.Context // of the transaction; nil before Run
	outer     pgx.Tx          // for savepoints; nil before it is needed
	caches    bool            // the driver keeps the texts of statements, if a statement does not say how it is run
	tracer    pgx.QueryTracer // of the service, for each statement of the driver; or nil
	watch     *watchdog.Watch[*call]
	calls     []call     // allocated together
	queries   []answered // of queued statements, allocated together
	arguments arguments
	answering watchdog.Context // of the callback that runs
}

// Outlet sends what handlers queue, in the order in which it was queued.
type Outlet interface {
	// Queue adds a statement of a call, for a query that may have or get a callback. It reports
	// whether so much is queued that Flush should be called.
	Queue(of *wire.Call, s pipeline.Statement, q *pgx.QueuedQuery) (full bool)
	// Flush begins the transaction if it has not begun, and sends what is queued. Its error is that
	// of the transaction, which cannot commit any more.
	Flush(ctx context.Context) error
	// Pending reports whether Flush would send something.
	Pending() bool
	// Began reports whether anything was sent.
	Began() bool
}

// In returns a transaction of a partition, on conn, which begins when out sends something.
// overtime is called with the event of a handler that is still running although its context has
// ended, and with "" when it has ended.
func (c *Caller) In(partition idemtype.Partition, conn *pgx.Conn, out Outlet, overtime func(event string)) *Transaction {
	pool.StateOf(conn.PgConn()).Ended = false
	cfg := conn.Config()
	return &Transaction{
		caller: c, partition: partition, overtime: overtime, conn: conn, prepared: preparedOn(conn), out: out, caches: caches(cfg.DefaultQueryExecMode), tracer: cfg.Tracer,
	}
}

// pgx returns the driver's transaction, which sets savepoints. The driver can begin it only with
// a statement; this one does nothing, because the transaction has begun. It does not run under a
// context of the handler: if that had ended, the driver would close the connection.
func (t *Transaction) pgx() (pgx.Tx, error) {
	if t.outer == nil {
		tx, err := t.conn.BeginTx(t.ctx, pgx.TxOptions{BeginQuery: "SELECT"})
		if err != nil {
			return nil, err
		}
		t.outer = tx
	}
	return t.outer, nil
}

// call is one call of a handler: what the handler receives, and the state of the call.
type call struct {
	of      *wire.Call
	in      *Transaction
	attempt int
	tx      handlerTx
	ctx     callContext
	life    txLife
	trace   trace
	ids     wire.EventIDs
	queue   queue
	err     error              // of the handler
	answer  error              // of the last callback of a statement that the handler queued
	running bool               // the handler has not returned
	unasked []*pgx.QueuedQuery // answered while the handler ran, without a callback
	unsent  []unsent
}

// callContext is a handler's context.
type callContext struct {
	watchdog.Context
	of *call
}

// Value returns the delivery for its key.
func (c *callContext) Value(key any) any {
	if _, ok := key.(idemtype.DeliveryKey); ok {
		call := c.of.of
		return &idemtype.Delivery{
			Consumer: c.of.in.caller.Consumer, Event: call.Event, Key: call.Key, Attempt: c.of.attempt, Message: *call.Message,
		}
	}
	return c.Context.Value(key)
}

// mostTogether is how many calls, or statements that they queue, are allocated at once.
const mostTogether = 64

func (t *Transaction) newCall(of *wire.Call, attempt int) *call {
	if len(t.calls) == cap(t.calls) { // those before stay where they are: handlers may keep parts of them
		t.calls = make([]call, 0, min(2*cap(t.calls)+1, mostTogether))
	}
	t.calls = t.calls[:len(t.calls)+1]
	c := &t.calls[len(t.calls)-1]
	c.of, c.in, c.attempt, c.ids = of, t, attempt, of.EventIDs()
	c.queue.queries = c.queue.first[:0]
	c.life.idle.L = &c.life.mu
	c.trace.texts = &t.caller.texts
	c.ctx.of = c
	c.tx = handlerTx{on: t.conn, of: c}
	return c
}

// Call runs one handler inside the transaction, with middleware around it. attempt is the number
// of the call. A panic becomes an error. left is what the handler's statements may have left in
// the session.
func (t *Transaction) Call(batch context.Context, of *wire.Call, attempt int) (left Left, err error) {
	c := t.newCall(of, attempt)
	defer func() { c.ctx.End() }()
	_ = t.watch.Call(c, &c.ctx.Context, func() error {
		over := func() { c.err = cmp.Or(c.life.close(), c.err) } // from now on nothing is queued
		defer over()                                             // also if the goroutine ends
		c.running = true
		t.contained(c, &c.err, func() error { return t.caller.wrapped(of)(&c.ctx, &c.tx) })
		over() // a goroutine that the handler left no longer sends
		c.running = false
		if c.err == nil {
			c.err = c.late()
		}
		if c.err == nil {
			c.err = c.missed()
		}
		c.unasked = nil
		if c.err == nil && !t.conn.PgConn().IsBusy() { // open rows are an error
			t.contained(c, &c.err, c.hand)
		}
		return c.err
	})
	if err = t.ended(batch, c, c.err); err != nil && !t.conn.IsClosed() && !t.conn.PgConn().IsBusy() {
		t.prepared.forgetLong(t.ctx, t.conn)
	}
	return c.trace.left(), err
}

// wrapped returns a handler with middleware around it, which is the service's code, too.
func (c *Caller) wrapped(of *wire.Call) idemtype.HandlerFunc {
	fn := idemtype.HandlerFunc(of.Fn)
	for _, m := range slices.Backward(c.Middleware) {
		fn = m(fn)
	}
	return fn
}

// contained calls fn, which is the service's code, and stores its error in err. It is also an
// error if fn panics or ends its goroutine.
func (t *Transaction) contained(c *call, err *error, fn func() error) {
	*err = errExit // in case fn does not return
	defer func() {
		if r := recover(); r != nil {
			t.caller.Log.Error("a handler panicked", "topic", t.partition.Topic, "partition", t.partition.Number, "event", c.of.Event, "panic", watchdog.PanicText(r), "stack", string(debug.Stack()))
			*err = verdict.Permanent(fmt.Errorf("the handler panicked: %s", watchdog.PanicText(r)))
		}
	}()
	*err = verdict.Readable(fn())
}

var errExit = errors.New("the handler ended its goroutine")

// ended determines how a call that returned err has ended.
func (t *Transaction) ended(batch context.Context, c *call, err error) error {
	limits := t.caller.Limits
	switch {
	case pool.StateOf(t.conn.PgConn()).Ended:
		return EndedTransaction(c.of)
	case verdict.TooLarge(err): // the driver may have closed the connection
		return &verdict.HandlerError{Call: c.of, Err: verdict.Permanent(err)}
	case verdict.OutOfTime(batch):
		err = verdict.Overdue(batch, cmp.Or(err, batch.Err(), context.DeadlineExceeded), verdict.Limit{Name: "limits.batch_timeout", Most: limits.BatchTimeout}, limits)
		return &verdict.HandlerError{Call: c.of, Err: err, Late: true}
	case batch.Err() != nil, t.conn.IsClosed() && !c.ctx.Over():
		return &verdict.HandlerError{Call: c.of, Err: cmp.Or(err, context.Cause(batch), errConnection), Outage: true}
	case t.conn.IsClosed(): // the event timed out during a statement
		err = &verdict.HandlerError{Call: c.of, Err: cmp.Or(err, c.ctx.Err())}
	case t.conn.PgConn().IsBusy(): // the connection is closed after it
		err = &verdict.HandlerError{Call: c.of, Err: cmp.Or(err, verdict.Permanent(errors.New("the handler did not close the rows of a query")))}
	default:
		err = t.outcome(c.of, err)
	}
	if h, ok := errors.AsType[*verdict.HandlerError](err); ok {
		if !c.ctx.Over() {
			h.Err = verdict.OwnContext(h.Err, pool.StateOf(t.conn.PgConn()).By)
		}
		h.Err = verdict.Overdue(&c.ctx, h.Err, verdict.Limit{Name: "the time of a call", Most: limits.EventTimeout}, limits)
	}
	return err
}

var errConnection = errors.New("the connection to the database was lost")

// outcome determines the state in which a handler left the transaction.
func (t *Transaction) outcome(of *wire.Call, err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == notHere {
		return EndedTransaction(of)
	}
	switch status := t.conn.PgConn().TxStatus(); {
	case status == 'T', !t.out.Began():
		if err != nil {
			return &verdict.HandlerError{Call: of, Err: err}
		}
		return nil
	case status == 'E': // a statement failed, whatever the handler returned
		failed := pool.StateOf(t.conn.PgConn()).Failed
		if failed.Code == notHere {
			return EndedTransaction(of)
		}
		if failed.Code == "25006" { // the append was written, so that the server is no standby
			return ReadOnly(of)
		}
		if told, ok := errors.AsType[*pgconn.PgError](err); ok && *told == *failed {
			return &verdict.HandlerError{Call: of, Err: err}
		}
		if failed.Routine == "CopyGetData" { // the handler's rows ended COPY
			return &verdict.HandlerError{Call: of, Err: cmp.Or(err, errRows)}
		}
		return &verdict.HandlerError{Call: of, Err: t.named("", failed)}
	}
	return EndedTransaction(of)
}

// notHere is the SQLSTATE of a COMMIT or ROLLBACK in a function, a procedure or a DO block that
// may not end the transaction.
const notHere = "2D000"

// ReadOnly returns the error of a call that made its transaction read-only.
func ReadOnly(of *wire.Call) error {
	return &verdict.HandlerError{Call: of, Err: verdict.Permanent(errors.New("the handler made its transaction read-only"))}
}

// EndedTransaction returns the halt after a call that ended the transaction, or tried to.
func EndedTransaction(of *wire.Call) error {
	return broken(of, "ended the transaction or tried to, which only the runtime may do; SET CONSTRAINTS ALL IMMEDIATE counts as an end, so name the constraints")
}

// OtherSavepoint returns the halt after a call that rolled back to a savepoint of an earlier call,
// or released it.
func OtherSavepoint(of *wire.Call) error {
	return broken(of, "rolled back to a savepoint that an earlier call had left, or released it; a call may use only savepoints that it sets itself")
}

// Deallocated returns the halt after a call that removed the runtime's prepared statements.
func Deallocated(of *wire.Call) error {
	return broken(of, "removed the prepared statements of its connection (DEALLOCATE ALL, DISCARD ALL); remove statements by their names")
}

func broken(of *wire.Call, what string) error {
	return &verdict.Halt{Code: halt.Handler, Offset: of.Message.Offset, Reason: "handler " + of.Event + " " + what}
}

// Run runs work, which calls handlers, on a new goroutine, because a handler may end its
// goroutine. A handler that ignores its context keeps the goroutine, with a transaction that can
// never commit.
func (t *Transaction) Run(ctx context.Context, work func(context.Context) error) error {
	c, err := watchdog.Run(ctx, watchdog.Rules[*call]{
		Limit: t.caller.Limits.EventTimeout, Heed: heed, Grace: grace,
		Overdue: func(c *call) { // it is reported while it is still running
			t.overtime(c.of.Event)
			t.caller.Log.Error("a handler is still running after its context ended", "topic", t.partition.Topic, "partition", t.partition.Number, "event", c.of.Event, "offset", c.of.Message.Offset)
		},
		Abandon: func(c *call) {
			c.life.cut()
			pool.StateOf(t.conn.PgConn()).Kept = true
			_ = t.conn.PgConn().Conn().Close() // while it runs: nothing of it may commit
		},
		End: func(c *call, left bool) {
			t.overtime("")
			if left {
				t.caller.Log.Info("a handler that ignored its context has ended", "topic", t.partition.Topic, "partition", t.partition.Number, "event", c.of.Event)
			}
		},
	}, func(w *watchdog.Watch[*call]) error {
		t.watch, t.ctx = w, ctx
		return work(ctx)
	})
	switch {
	case errors.Is(err, watchdog.ErrAbandoned):
		return &verdict.Halt{Code: halt.Handler, Offset: c.of.Message.Offset, Reason: "handler " + c.of.Event + " did not return when its context ended"}
	case errors.Is(err, watchdog.ErrExit):
		return t.ended(ctx, c, cmp.Or(c.err, c.answer, errExit))
	}
	return err
}

const (
	heed  = 500 * time.Millisecond // how long a handler may outlast its context before that is reported
	grace = 5 * time.Second        // how long it may do so before the partition halts
)
