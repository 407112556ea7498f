package handler

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/footprint"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
	"github.com/idemgen/idemgen/runtime/wire"
)

// queue contains the statements that a call has queued and not yet passed to the transaction.
type queue struct {
	queries []*pgx.QueuedQuery
	bytes   int   // of their arguments, as far as that is known
	full    bool  // the transaction has so many that they should be sent
	err     error // the call has failed, whatever the handler returns
}

// What a call keeps before it passes statements on: their arguments are then encoded, and the
// transaction knows how large they are.
const (
	passAfter = 100
	passBytes = 256 << 10
)

// Queue implements [wire.Tx].
func (h *handlerTx) Queue(sql string, args ...any) *pgx.QueuedQuery {
	c, q := h.of, &pgx.QueuedQuery{SQL: sql, Arguments: args}
	if err := c.life.begin(); err != nil {
		c.fail(err) // a callback of this call may have queued it
		c.in.caller.Log.Error("a statement that was queued too late is not run", "topic", c.in.partition.Topic, "partition", c.in.partition.Number, "event", c.of.Event, "err", err)
		return q
	}
	defer c.life.end()
	args, _, err := h.read(sql, args)
	if h.over {
		err = pgx.ErrTxClosed
	}
	if c.trace.texts.Of(sql)&footprint.Copies != 0 {
		err = errCopy
	}
	if err != nil {
		c.fail(err)
		return q
	}
	q.Arguments = args
	c.life.mu.Lock()
	c.queue.queries = append(c.queue.queries, q)
	c.queue.bytes += len(sql) + size(args)
	many := len(c.queue.queries) > passAfter || c.queue.bytes > passBytes
	c.life.mu.Unlock()
	if many { // the last one may still get its callback
		c.pass()
	}
	return q
}

var errCopy = errors.New("idem: COPY cannot be queued: use CopyFrom")

// size is roughly how large arguments are.
func size(args []any) (n int) {
	for _, a := range args {
		switch a := a.(type) {
		case string:
			n += len(a)
		case []byte:
			n += len(a)
		default:
			n += 16
		}
	}
	return n
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
	c.queue.queries, c.queue.bytes = append([]*pgx.QueuedQuery(nil), c.queue.queries[n:]...), 0
	c.life.mu.Unlock()
	done := false
	defer func() {
		if !done { // an encoder panicked, and the handler may recover
			c.fail(errHanded)
		}
	}()
	for i, q := range queries {
		s, err := c.statement(q)
		if err != nil {
			done = true
			return err
		}
		if c.queue.full = c.in.out.Queue(c.of, s, q); c.queue.full && i+1 < len(queries) {
			if c.flush(); c.failed() != nil {
				break
			}
		}
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
	s.Read = func(r *pgconn.ResultReader) error { return t.callback(c, q, r) }
	return s, nil
}

// callback calls the callback of a queued statement, if it has one, as a part of the call that
// queued it. If the statement itself failed, that is the error, whatever the callback returns.
func (t *Transaction) callback(c *call, q *pgx.QueuedQuery, r *pgconn.ResultReader) error {
	if q.Fn == nil {
		return nil
	}
	rows := pgx.RowsFromResultReader(t.conn.TypeMap(), r)
	_ = t.watch.Call(c, func(*watchdog.Context) error {
		t.contained(c, func() error { return q.Fn(answer{handlerRows{rows, &c.tx}}) })
		return c.err
	})
	rows.Close()
	failed, is := errors.AsType[*pgconn.PgError](rows.Err())
	if told, same := errors.AsType[*pgconn.PgError](c.err); is && !(same && *told == *failed) {
		c.err = failed
	}
	if err := cmp.Or(c.err, c.failed()); err != nil {
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
		preparedOn(t.conn).forget(t.ctx, t.conn, s.Driver)
	}
	limits := t.caller.Limits
	named := verdict.Overdue(t.ctx, err, verdict.Limit{Name: "limits.batch_timeout", Most: limits.BatchTimeout}, limits)
	switch {
	case pool.StateOf(t.conn.PgConn()).Ended, rejected && pg.Code == notHere:
		return EndedTransaction(of)
	case verdict.OutOfTime(t.ctx):
		return &verdict.HandlerError{Call: of, Err: named, Late: true}
	case t.ctx.Err() != nil, t.conn.IsClosed():
		return &verdict.HandlerError{Call: of, Err: err, Outage: true}
	case rejected && pg.Code == "25006": // the append was written, so that the server is no standby
		return ReadOnly(of)
	}
	return &verdict.HandlerError{Call: of, Err: named}
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

// forget removes a statement. An error leaves it to the next one.
func (p *prepared) forget(ctx context.Context, conn *pgx.Conn, is *pgconn.StatementDescription) {
	for sql, u := range p.all {
		if u.is == is && conn.Deallocate(ctx, sql) == nil {
			delete(p.all, sql)
		}
	}
}
