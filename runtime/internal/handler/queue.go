package handler

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// queue contains the statements that a call has queued and not yet passed to the transaction,
// because the rows of a query are open, or another goroutine uses the transaction.
type queue struct {
	queries []*pgx.QueuedQuery
	first   [2]*pgx.QueuedQuery // memory of the first queries
	bytes   int                 // that their texts and arguments occupy
	full    bool                // the transaction has so many that they should be sent before the next one
	err     error               // the call has failed, whatever the handler returns
}

// waiting limits the bytes of what a call has queued and not yet passed on. The transaction limits
// what was passed on.
const waiting = 16 << 20

// Queue implements [wire.Tx].
func (h *handlerTx) Queue(sql string, args ...any) *pgx.QueuedQuery {
	c, q := h.of, &pgx.QueuedQuery{SQL: sql, Arguments: args}
	if err := c.life.begin(true); err != nil {
		c.fail(err) // a callback of this call may have queued it
		text := "a statement that was queued too late is not run"
		if errors.Is(err, errAnswering) {
			text = "a statement that was queued in a callback is not run"
		}
		c.in.caller.Log.Error(text, "topic", c.in.partition.Topic, "partition", c.in.partition.Number, "event", c.of.Event, "err", err)
		return q
	}
	defer c.life.end()
	args, _, _, err := h.read(sql, args, true)
	if h.over {
		err = pgx.ErrTxClosed
	}
	if err != nil {
		c.fail(err)
		return q
	}
	if c.failed() != nil {
		return q
	}
	q.Arguments = args
	c.life.mu.Lock()
	c.queue.queries = append(c.queue.queries, q)
	c.life.mu.Unlock()
	if !c.pass() {
		c.wait(len(sql) + occupied(reflect.ValueOf(args), 0))
	}
	return q
}

var errCopy = verdict.Permanent(errors.New("idem: COPY is not sent as a statement: use CopyFrom"))

// wait counts the bytes of a statement that cannot be passed on yet.
func (c *call) wait(bytes int) {
	c.life.mu.Lock()
	c.queue.bytes += bytes
	much := c.queue.bytes > waiting
	c.life.mu.Unlock()
	if much {
		c.fail(errWaiting)
	}
}

var errWaiting = verdict.Permanent(fmt.Errorf("idem: statements of more than %d MiB were queued while the rows of a query were open: read the rows first, as pgx.CollectRows does", waiting>>20))

// late returns an error if a callback was set after the statement had been answered: it would
// never be called.
func (c *call) late() error {
	for _, q := range c.unasked {
		if q.Fn != nil {
			return errLate
		}
	}
	return nil
}

var errLate = verdict.Permanent(errors.New("idem: a callback was set after its statement was sent: set it at once, before the next use of the transaction"))

// fail stores the first error of a queued statement.
func (c *call) fail(err error) {
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	if c.queue.err == nil {
		c.queue.err = err
	}
}

// refused stores the error of a use of the transaction that idemgen did not send: the call has
// failed, even if the handler ignores it. After the call it is nobody's.
func (c *call) refused(err error) {
	if !errors.Is(err, pgx.ErrTxClosed) {
		c.fail(err)
	}
}

func (c *call) failed() error {
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	return c.queue.err
}

// pass passes what is queued to the transaction, unless the connection is in use. The transaction
// does not send the last statement before the next one is queued, so that it may get its callback.
func (c *call) pass() bool {
	if !c.life.send(true) {
		return false
	}
	defer c.life.sent()
	if c.in.conn.PgConn().IsBusy() { // rows are open
		return false
	}
	if err := c.hand(); err != nil {
		c.fail(err)
	}
	return true
}

// send sends all that is queued, by this call and by earlier ones. If the connection is busy, it
// leaves the error to the driver.
func (c *call) send() error {
	if c.in.conn.PgConn().IsBusy() {
		return nil
	}
	if !c.life.send(false) {
		return errSending
	}
	defer c.life.sent()
	if err := c.hand(); err != nil {
		c.fail(err)
	} else if c.in.out.Pending() {
		c.flush()
	}
	return c.failed()
}

// hand passes queued statements to the transaction.
func (c *call) hand() error {
	c.life.mu.Lock()
	var few [2]*pgx.QueuedQuery // another goroutine may queue meanwhile
	queries := append(few[:0], c.queue.queries...)
	c.queue.queries, c.queue.bytes = c.queue.first[:0], 0
	c.life.mu.Unlock()
	done := false
	defer func() {
		if !done { // an encoder panicked, and the handler may recover
			c.fail(errHanded)
		}
	}()
	for _, q := range queries {
		if c.queue.full {
			c.flush()
		}
		if c.failed() != nil {
			break
		}
		s, err := c.statement(q)
		if err != nil {
			done = true
			return err
		}
		c.queue.full = c.in.out.Queue(c.of, s, q)
	}
	done = true
	return c.failed()
}

var errHanded = errors.New("idem: a panic interrupted the encoding of queued statements")

// flush sends what the transaction has queued. The call's time does not pass meanwhile.
func (c *call) flush() {
	c.queue.full = false
	err := c.in.watch.Aside(func() error { return c.in.out.Flush(c.in.ctx) })
	if h, ok := errors.AsType[*verdict.HandlerError](err); ok && h.Call == c.of {
		c.fail(said(h.Err))
	} else if err != nil {
		c.fail(errFailed)
	}
}

var errFailed = errors.New("idem: the transaction has failed because of an earlier statement")

// statement returns a queued statement with its arguments encoded. On its first use in the session
// it is prepared, in its place: a statement before it may create its table.
func (c *call) statement(q *pgx.QueuedQuery) (s pipeline.Statement, err error) {
	t, ctx, sql, args := c.in, c.ctx.Statements(), q.SQL, q.Arguments
	for len(args) > 0 {
		rewriter, ok := args[0].(pgx.QueryRewriter)
		if !ok {
			break
		}
		if _, other := rewriter.(judged); other { // it may use the connection
			if c.flush(); c.failed() != nil {
				return s, c.failed()
			}
		}
		if sql, args, err = rewriter.RewriteQuery(ctx, t.conn, sql, args[1:]); err != nil {
			return s, said(err)
		}
	}
	known := t.prepared
	is := known.find(sql)
	if is == nil {
		if c.flush(); c.failed() != nil {
			return s, c.failed()
		}
		if is, err = known.keep(ctx, t.conn, sql, known.uses.Load()); err != nil {
			return s, said(err)
		}
	}
	if err := t.arguments.encode(t.conn.TypeMap(), is, args, &s); err != nil {
		return s, said(err)
	}
	if len(t.queries) == cap(t.queries) {
		t.queries = make([]answered, 0, min(2*cap(t.queries)+1, mostTogether))
	}
	t.queries = append(t.queries, answered{of: c, query: q})
	s.User, s.Reader = true, &t.queries[len(t.queries)-1]
	return s, nil
}

// answered is a queued statement that waits for its answer, and the answer as a callback receives
// it.
type answered struct {
	of    *call
	query *pgx.QueuedQuery
	answer
}

// Read calls the callback of the statement, if it has one, as a part of the call that queued it.
// If the statement itself failed, that is the error, whatever the callback returns.
func (a *answered) Read(r *pgconn.ResultReader) error {
	c, t, q := a.of, a.of.in, a.query
	if q.Fn == nil {
		if c.running {
			c.unasked = append(c.unasked, q)
		}
		return nil
	}
	rows := pgx.RowsFromResultReader(t.conn.TypeMap(), r)
	a.rows = handlerRows{rows, &c.tx, q.SQL}
	_ = t.watch.Call(c, &t.answering, func() error {
		c.life.answers(true)
		defer c.life.answers(false)
		t.contained(c, &c.answer, func() error { return q.Fn(a) })
		return c.answer
	})
	rows.Close()
	err := c.answer
	failed, is := errors.AsType[*pgconn.PgError](rows.Err())
	if told, same := errors.AsType[*pgconn.PgError](err); is && !(same && *told == *failed) {
		err = t.named(q.SQL, failed)
	}
	if err := cmp.Or(err, c.failed()); err != nil {
		return &verdict.HandlerError{Call: c.of, Err: err}
	}
	return nil
}

// Failed returns the fact about a call after an error of a statement that it queued, or of the
// statement's callback. The statement is prepared again next time: its parameters may have other
// types by now.
func (t *Transaction) Failed(of *wire.Call, s pipeline.Statement, err error) error {
	if h, ok := errors.AsType[*verdict.HandlerError](err); ok { // of a callback
		err = h.Err
	} else if w, ok := errors.AsType[*verdict.Write](err); ok {
		err = said(w.Err)
	}
	pg, rejected := errors.AsType[*pgconn.PgError](err)
	if rejected && !t.conn.IsClosed() {
		t.prepared.forget(t.ctx, t.conn, s.Driver)
	}
	limits := t.caller.Limits
	named := verdict.Overdue(t.ctx, err, verdict.Limit{Name: "limits.batch_timeout", Most: limits.BatchTimeout}, limits)
	switch {
	case pool.StateOf(t.conn.PgConn()).Ended, rejected && pg.Code == notHere:
		return EndedTransaction(of)
	case verdict.TooLarge(err): // the driver may have closed the connection
		return &verdict.HandlerError{Call: of, Err: verdict.Permanent(err)}
	case verdict.OutOfTime(t.ctx):
		return &verdict.HandlerError{Call: of, Err: named, Late: true}
	case t.ctx.Err() != nil, t.conn.IsClosed():
		return &verdict.HandlerError{Call: of, Err: err, Outage: true}
	case rejected && pg.Code == "25006": // the append was written, so that the server is no standby
		return ReadOnly(of)
	}
	return &verdict.HandlerError{Call: of, Err: named}
}
