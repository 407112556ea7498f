package handler

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/wire"
)

// handlerTx is what handlers get: the transaction without its end. A type of its own, so
// that tx.(pgx.Tx) fails and nobody commits by accident.
type handlerTx struct {
	tx    pgx.Tx
	life  *txLife
	trace *trace
	own   *callContext // the handler's; nil if statements need all that it knows
	ids   *wire.EventIDs
}

// OutboxID returns the id of the next event about a subject that the handler sends. Package outbox
// calls it for an event without an id.
func (h *handlerTx) OutboxID(subject string) [16]byte {
	if h.life.begin() != nil {
		return [16]byte{} // the statement is rejected
	}
	defer h.life.end()
	return h.ids.Next("handler " + subject)
}

// during is the context for a statement that a handler runs during ctx. A rewriter may ask it
// for the call.
func (h *handlerTx) during(ctx context.Context, rewritten bool) context.Context {
	if h.own != nil && !rewritten && ctx == context.Context(h.own) {
		return h.own.Statements()
	}
	return ctx
}

// begin is before every use of the transaction. After the end of the transaction nothing is sent:
// it would commit by itself.
func (h *handlerTx) begin() error {
	if err := h.life.begin(); err != nil {
		return err
	}
	conn := h.tx.Conn().PgConn()
	if conn.TxStatus() == 'I' || pool.StateOf(conn).Ended {
		h.life.end()
		return errEnded
	}
	return nil
}

// beginStatement is begin before a statement. It returns the context and the arguments to send it
// with.
func (h *handlerTx) beginStatement(ctx context.Context, sql string, args []any) (context.Context, []any, error) {
	if err := h.begin(); err != nil {
		return nil, nil, err
	}
	args, rewritten, err := h.read(sql, args)
	if err != nil {
		h.life.end()
		return nil, nil, err
	}
	return h.during(ctx, rewritten), args, nil
}

// read looks at a statement before it is sent, and returns the arguments to send it with: by the
// extended protocol, so that the server takes one statement only, and its first words say what it
// is. It reports whether another rewriter than pgx's own makes the statement of the text.
func (h *handlerTx) read(sql string, args []any) (_ []any, rewritten bool, _ error) {
	if err := h.judge(sql); err != nil {
		return nil, false, err
	}
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
		case pgx.QueryResultFormats, pgx.QueryResultFormatsByOID, pgx.NamedArgs, pgx.StrictNamedArgs:
		case pgx.QueryRewriter:
			h.trace.anything() // it gets the connection
			rewritten = true
			replace(i, judged{a, h})
		default:
			break options
		}
	}
	return args, rewritten, nil
}

// judge notes what a statement leaves. It refuses one that would end the transaction: the handler
// is treated as if it had ended it.
func (h *handlerTx) judge(sql string) error {
	if !h.trace.see(sql) {
		return nil
	}
	pool.StateOf(h.tx.Conn().PgConn()).Ended = true
	return errEnded
}

// judged is a rewriter whose text is read, too.
type judged struct {
	pgx.QueryRewriter
	of *handlerTx
}

func (j judged) RewriteQuery(ctx context.Context, conn *pgx.Conn, sql string, args []any) (string, []any, error) {
	sql, args, err := j.QueryRewriter.RewriteQuery(ctx, conn, sql, args)
	if err == nil {
		err = j.of.judge(sql)
	}
	return sql, args, err
}

var errEnded = fmt.Errorf("idem: the handler ended the transaction, which only the runtime may do: %w", pgx.ErrTxClosed)

func (h *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	ctx, args, err := h.beginStatement(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer h.life.end()
	if len(args) == 0 {
		args = []any{pgx.QueryExecModeExec} // one round trip, and nothing stays prepared
	}
	rows, err := h.tx.Query(ctx, sql, args...) // Exec would use the simple protocol without arguments
	if err != nil {
		return pgconn.CommandTag{}, said(err)
	}
	rows.Close()
	return rows.CommandTag(), said(rows.Err())
}

func (h *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	ctx, args, err := h.beginStatement(ctx, sql, args)
	if err != nil {
		return noRows{err: err}, err
	}
	defer h.life.end()
	rows, err := h.tx.Query(ctx, sql, args...)
	if said := said(err); said != err {
		return noRows{err: said}, said
	}
	return handlerRows{rows, h}, err
}

func (h *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	ctx, args, err := h.beginStatement(ctx, sql, args)
	if err != nil {
		return noRows{err: err}
	}
	defer h.life.end()
	return bareRow{h.tx.QueryRow(ctx, sql, args...)}
}

func (h *handlerTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, src pgx.CopyFromSource) (int64, error) {
	if err := h.begin(); err != nil {
		return 0, err
	}
	defer h.life.end()
	n, err := h.tx.CopyFrom(h.during(ctx, false), table, columns, src)
	return n, said(err)
}

func (h *handlerTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := h.begin(); err != nil {
		return pgx.FailedBatchResults(b, err)
	}
	defer h.life.end()
	rewritten := false
	for _, q := range b.QueuedQueries {
		args, other, err := h.read(q.SQL, q.Arguments)
		if err != nil {
			return pgx.FailedBatchResults(b, err)
		}
		q.Arguments, rewritten = args, rewritten || other
		if then := q.Fn; then != nil {
			q.Fn = func(r pgx.BatchResults) error { return then(bareResults{r, h}) }
		}
	}
	return bareResults{h.tx.SendBatch(h.during(ctx, rewritten), b), h}
}

// conn is the connection itself; nil when the transaction is over. Nobody sees what runs on
// it.
func (h *handlerTx) conn() *pgx.Conn {
	if h.life.begin() != nil {
		return nil
	}
	defer h.life.end()
	h.trace.anything()
	return h.tx.Conn()
}
