package handler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/footprint"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// handlerTx is what handlers receive: the transaction without Commit and Rollback. It is a
// separate type, so that tx.(pgx.Tx) fails and no handler commits by accident.
type handlerTx struct {
	on   driver
	of   *call
	over bool // the savepoint has ended

	within     *handlerTx // around the savepoint; nil for the transaction
	rolledBack bool       // the savepoint was
}

// driver is what runs a handler's statements: the connection, or a savepoint on it.
type driver interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error)
}

// OutboxID returns the id of the next event that the handler sends about a subject. Package outbox
// calls it for an event without an id.
func (h *handlerTx) OutboxID(subject string) [16]byte {
	if h.of.life.begin(false) != nil {
		return [16]byte{} // the statement is rejected
	}
	defer h.of.life.end()
	return h.of.ids.Next("handler " + subject)
}

// during returns the context for a statement that a handler runs with ctx. A rewriter may look the
// call up in it, and so may a tracer of the service.
func (h *handlerTx) during(ctx context.Context, rewritten bool) context.Context {
	if h.of.in.tracer == nil && !rewritten && ctx == context.Context(&h.of.ctx) {
		return h.of.ctx.Statements()
	}
	return ctx
}

// begin is called before every use of the connection: what is queued is sent first. After the
// transaction has ended, nothing is sent, because it would commit by itself.
func (h *handlerTx) begin() error {
	if err := h.of.life.begin(false); err != nil {
		h.of.refused(err)
		return err
	}
	ready := false
	defer func() {
		if !ready { // also after a callback that ended its goroutine
			h.of.life.end()
		}
	}()
	if err := h.ready(); err != nil {
		return err
	}
	ready = true
	return nil
}

func (h *handlerTx) ready() error {
	if err := h.of.send(); err != nil {
		return err
	}
	conn := h.of.in.conn.PgConn()
	if conn.TxStatus() == 'I' || pool.StateOf(conn).Ended {
		return errEnded
	}
	return nil
}

// beginStatement is like begin, for a statement. It returns the context and the arguments to send.
func (h *handlerTx) beginStatement(ctx context.Context, sql string, args []any) (context.Context, []any, error) {
	if err := h.begin(); err != nil {
		return nil, nil, err
	}
	if err := h.lives(ctx); err != nil {
		h.of.life.end()
		return nil, nil, err
	}
	args, rewritten, cached, err := h.read(sql, args, false)
	if err != nil {
		h.of.refused(err)
		h.of.life.end()
		return nil, nil, err
	}
	ctx = h.during(ctx, rewritten)
	if cached {
		if err := h.keepLong(ctx, sql, h.of.in.prepared.uses.Load()); err != nil {
			h.of.life.end()
			return nil, nil, err
		}
	}
	return ctx, args, nil
}

// keepLong prepares a statement with a long text, which the driver would keep in its own cache, as
// it keeps all that it prepares. The driver uses what is prepared under a text.
func (h *handlerTx) keepLong(ctx context.Context, sql string, since int64) error {
	if len(sql) <= long {
		return nil
	}
	_, err := h.of.in.prepared.keep(ctx, h.of.in.conn, sql, since)
	return said(err)
}

// read examines a statement before it is sent, and returns the arguments to send it with. They
// select the extended protocol, in which the server accepts only one statement, so that its
// first words determine what it does. pipelined means that it is sent together with others.
// read reports whether a rewriter other than pgx's own produces the statement, and whether the
// driver would keep the text prepared as it is.
func (h *handlerTx) read(sql string, args []any, pipelined bool) (_ []any, rewritten, cached bool, _ error) {
	if err := h.judge(sql, pipelined); err != nil {
		return nil, false, false, err
	}
	cached = h.of.in.caches
	replace := func(i int, option any) {
		args = slices.Clone(args) // the slice is the handler's
		args[i] = option
	}
options:
	for i, a := range args { // as pgx reads them
		switch a := a.(type) {
		case pgx.QueryExecMode:
			if a == pgx.QueryExecModeSimpleProtocol {
				replace(i, pgx.QueryExecModeExec)
			}
			cached = caches(a)
		case pgx.QueryResultFormats, pgx.QueryResultFormatsByOID:
		case pgx.QueryRewriter:
			switch a.(type) {
			case pgx.NamedArgs, pgx.StrictNamedArgs:
				if len(sql) <= long {
					continue
				}
			default:
				h.of.trace.anything() // it receives the connection
				rewritten = true
			}
			cached = false
			replace(i, judged{a, h, pipelined, h.of.in.prepared.uses.Load()})
		default:
			break options
		}
	}
	return args, rewritten, cached, nil
}

// caches reports whether the driver keeps the texts of statements in a mode.
func caches(mode pgx.QueryExecMode) bool {
	return mode == pgx.QueryExecModeCacheStatement || mode == pgx.QueryExecModeCacheDescribe
}

// judge records what a statement may leave in the session. It rejects a text that the protocol
// cannot transfer, COPY from or to the client, and a statement that would end the transaction: the
// handler is treated as if it had ended it.
func (h *handlerTx) judge(sql string, pipelined bool) error {
	switch {
	case strings.IndexByte(sql, 0) >= 0:
		return errNUL
	case h.of.trace.texts.Of(sql)&footprint.Copies != 0 && (pipelined || strings.Contains(strings.ToLower(sql), "stdin")):
		return errCopy // in a pipeline, the driver does not expect the reply; STDIN waits for data forever
	}
	if !h.of.trace.see(sql) {
		return nil
	}
	pool.StateOf(h.of.in.conn.PgConn()).Ended = true
	return errEnded
}

// judged is a rewriter whose resulting text is also examined.
type judged struct {
	pgx.QueryRewriter
	of        *handlerTx
	pipelined bool
	since     int64 // of what stays prepared
}

func (j judged) RewriteQuery(ctx context.Context, conn *pgx.Conn, sql string, args []any) (string, []any, error) {
	sql, args, err := j.QueryRewriter.RewriteQuery(ctx, conn, sql, args)
	if err == nil {
		err = j.of.judge(sql, j.pipelined)
	}
	if err == nil {
		err = j.of.keepLong(ctx, sql, j.since)
	}
	return sql, args, err
}

// errNUL is permanent, because the server would reject the message and not the statement.
var errNUL = verdict.Permanent(errors.New("idem: an SQL text or a name of a statement contains a NUL character"))

var errEnded = fmt.Errorf("idem: the handler ended the transaction, which only the runtime may do: %w", pgx.ErrTxClosed)

func (h *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if len(args) == 0 {
		args = []any{pgx.QueryExecModeExec} // one round trip, and nothing stays prepared
	}
	ctx, args, err := h.beginStatement(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer h.of.life.end()
	rows, err := h.on.Query(ctx, sql, args...) // Exec would use the simple protocol without arguments
	if err != nil {
		return pgconn.CommandTag{}, h.said(sql, h.sent(ctx, err))
	}
	rows.Close()
	return rows.CommandTag(), h.said(sql, h.sent(ctx, rows.Err()))
}

func (h *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	ctx, args, err := h.beginStatement(ctx, sql, args)
	if err != nil {
		return noRows{err: err}, err
	}
	defer h.of.life.end()
	rows, err := h.on.Query(ctx, sql, args...)
	if said := h.said(sql, h.sent(ctx, err)); said != err {
		return noRows{err: said}, said
	}
	return handlerRows{rows, h, sql}, err
}

func (h *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	ctx, args, err := h.beginStatement(ctx, sql, args)
	if err != nil {
		return noRows{err: err}
	}
	defer h.of.life.end()
	return bareRow{h.on.QueryRow(ctx, sql, args...), h, sql}
}

func (h *handlerTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := h.begin(); err != nil {
		return pgx.FailedBatchResults(b, err)
	}
	defer h.of.life.end()
	if err := h.lives(ctx); err != nil {
		return pgx.FailedBatchResults(b, err)
	}
	rewritten, since := false, h.of.in.prepared.uses.Load()
	for _, q := range b.QueuedQueries {
		args, other, cached, err := h.read(q.SQL, q.Arguments, true)
		if err != nil {
			h.of.refused(err)
			return pgx.FailedBatchResults(b, err)
		}
		if cached {
			if err := h.keepLong(h.during(ctx, other), q.SQL, since); err != nil {
				return pgx.FailedBatchResults(b, err)
			}
		}
		q.Arguments, rewritten = args, rewritten || other
		if then := q.Fn; then != nil {
			q.Fn = func(r pgx.BatchResults) error { return then(bareResults{r, h}) }
		}
	}
	return bareResults{h.on.SendBatch(h.during(ctx, rewritten), b), h}
}

// conn returns the connection itself; nil after the transaction has ended. Statements on it are
// not examined.
func (h *handlerTx) conn() *pgx.Conn {
	if h.begin() != nil {
		return nil
	}
	defer h.of.life.end()
	h.of.trace.anything()
	return h.of.in.conn
}
