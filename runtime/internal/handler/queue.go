package handler

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// queue contains the statements that a call has queued and not yet passed to the transaction.
type queue struct {
	queries []*pgx.QueuedQuery
	full    bool  // the transaction has so many that they should be sent
	err     error // the call has failed, whatever the handler returns
}

// passAfter is how many statements a call keeps before it passes them on: their arguments are then
// encoded, and the transaction knows how large they are.
const passAfter = 100

// Queue implements [wire.Tx].
func (h *handlerTx) Queue(sql string, args ...any) *pgx.QueuedQuery {
	c, q := h.of, &pgx.QueuedQuery{SQL: sql, Arguments: args}
	if err := c.life.begin(); err != nil {
		c.in.caller.Log.Error("a statement that was queued too late is not run", "topic", c.in.partition.Topic, "partition", c.in.partition.Number, "event", c.of.Event, "err", err)
		return q
	}
	defer c.life.end()
	args, _, err := h.read(sql, args)
	if err != nil {
		c.fail(err)
		return q
	}
	q.Arguments = args
	c.life.mu.Lock()
	c.queue.queries = append(c.queue.queries, q)
	many := len(c.queue.queries) > passAfter
	c.life.mu.Unlock()
	if many { // the last one may still get its callback
		c.pass()
	}
	return q
}

// fail stores the first error of a queued statement.
func (c *call) fail(err error) {
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	if c.queue.err == nil {
		c.queue.err = err
	}
}

func (c *call) failed() error {
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	return c.queue.err
}

// pass passes all statements but the last one to the transaction, and sends them if there are
// many.
func (c *call) pass() {
	if c.in.conn.PgConn().IsBusy() || !c.life.send() {
		return // later
	}
	defer c.life.sent()
	if err := c.hand(1); err != nil {
		c.fail(err)
	} else if c.queue.full {
		c.flush()
	}
}

// send sends all that is queued, by this call and by earlier ones. If the connection is busy, it
// leaves the error to the driver.
func (c *call) send() error {
	if c.in.conn.PgConn().IsBusy() {
		return nil
	}
	if !c.life.send() {
		return errSending
	}
	defer c.life.sent()
	if err := c.hand(0); err != nil {
		c.fail(err)
	} else if c.in.out.Pending() {
		c.flush()
	}
	return c.failed()
}

var errSending = errors.New("idem: the transaction is sending what is queued: a callback of a queued statement must not use it")

// hand passes queued statements to the transaction, except for the last ones.
func (c *call) hand(last int) error {
	c.life.mu.Lock()
	n := len(c.queue.queries) - last
	queries := c.queue.queries[:n]
	c.queue.queries = append([]*pgx.QueuedQuery(nil), c.queue.queries[n:]...)
	c.life.mu.Unlock()
	for _, q := range queries {
		s, err := c.statement(q)
		if err != nil {
			return err
		}
		c.queue.full = c.in.out.Queue(c.of, s)
	}
	return nil
}

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
		if sql, args, err = rewriter.RewriteQuery(ctx, t.conn, sql, args[1:]); err != nil {
			return s, said(err)
		}
	}
	known := preparedOn(t.conn)
	is := known.find(sql)
	if is == nil {
		if c.flush(); c.failed() != nil {
			return s, c.failed()
		}
		if is, err = known.prepare(ctx, t.conn, sql); err != nil {
			return s, said(err)
		}
	}
	var b pgx.ExtendedQueryBuilder
	if err := b.Build(t.conn.TypeMap(), is, args); err != nil {
		return s, said(err)
	}
	s = pipeline.Statement{Driver: is, Args: b.ParamValues, Formats: b.ParamFormats, Results: b.ResultFormats, User: true}
	if q.Fn != nil {
		s.Read = func(r *pgconn.ResultReader) error { return t.callback(c, q, r) }
	}
	return s, nil
}

// callback calls the callback of a queued statement, as a part of the call that queued it.
func (t *Transaction) callback(c *call, q *pgx.QueuedQuery, r *pgconn.ResultReader) error {
	_ = t.watch.Call(c, func(*watchdog.Context) error {
		rows := pgx.RowsFromResultReader(t.conn.TypeMap(), r)
		t.contained(c, func() error { return q.Fn(answer{handlerRows{rows, &c.tx}}) })
		return c.err
	})
	if c.err != nil {
		return &verdict.HandlerError{Call: c.of, Err: c.err}
	}
	return nil
}

// Failed returns the fact about a call after an error of a statement that it queued, or of the
// statement's callback.
func (t *Transaction) Failed(of *wire.Call, err error) error {
	if h, ok := errors.AsType[*verdict.HandlerError](err); ok { // of a callback
		err = h.Err
	} else if w, ok := errors.AsType[*verdict.Write](err); ok {
		err = said(w.Err)
	}
	limits := t.caller.Limits
	named := func(err error) error {
		return verdict.Overdue(t.ctx, err, verdict.Limit{Name: "limits.batch_timeout", Most: limits.BatchTimeout}, limits)
	}
	switch {
	case pool.StateOf(t.conn.PgConn()).Ended:
		return EndedTransaction(of)
	case verdict.OutOfTime(t.ctx):
		return &verdict.HandlerError{Call: of, Err: named(err), Late: true}
	case t.ctx.Err() != nil, t.conn.IsClosed():
		return &verdict.HandlerError{Call: of, Err: err, Outage: true}
	}
	err = t.outcome(of, err)
	if h, ok := errors.AsType[*verdict.HandlerError](err); ok {
		h.Err = named(h.Err)
	}
	return err
}

// most is how many statements stay prepared in a session because handlers queued them.
const most = 500

// prepared contains the statements of one connection that were prepared because handlers queued
// them, with the time of their last use.
type prepared struct {
	all  map[string]*use
	uses int64
}

type use struct {
	is   *pgconn.StatementDescription
	last int64
}

const preparedKey = "idemgen: queued"

func preparedOn(conn *pgx.Conn) *prepared {
	data := conn.PgConn().CustomData()
	p, ok := data[preparedKey].(*prepared)
	if !ok {
		p = &prepared{all: map[string]*use{}}
		data[preparedKey] = p
	}
	return p
}

// find returns nil if the statement is not prepared.
func (p *prepared) find(sql string) *pgconn.StatementDescription {
	u := p.all[sql]
	if u == nil {
		return nil
	}
	p.uses++
	u.last = p.uses
	return u.is
}

// prepare prepares a statement. If there are too many, the one that was not used for the longest
// time is removed.
func (p *prepared) prepare(ctx context.Context, conn *pgx.Conn, sql string) (*pgconn.StatementDescription, error) {
	if len(p.all) >= most {
		oldest := sql
		for other, u := range p.all {
			if p.all[oldest] == nil || u.last < p.all[oldest].last {
				oldest = other
			}
		}
		if err := conn.Deallocate(ctx, oldest); err != nil {
			return nil, err
		}
		delete(p.all, oldest)
	}
	is, err := conn.Prepare(ctx, sql, sql)
	if err != nil {
		return nil, err
	}
	p.uses++
	p.all[sql] = &use{is, p.uses}
	return is, nil
}
