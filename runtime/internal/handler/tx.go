package handler

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
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

// beginStatement is begin before a statement, and returns the context to run it with. A statement
// that would end the transaction is not sent. The handler is judged as if it had ended it.
func (h *handlerTx) beginStatement(ctx context.Context, sql string, args []any) (context.Context, error) {
	if err := h.begin(); err != nil {
		return nil, err
	}
	ends, rewritten := h.trace.see(sql, args)
	if ends {
		return nil, h.refuse()
	}
	return h.during(ctx, rewritten), nil
}

// refuse is end after a begin, for a text that would end the transaction.
func (h *handlerTx) refuse() error {
	pool.StateOf(h.tx.Conn().PgConn()).Ended = true
	h.life.end()
	return errEnded
}

var errEnded = fmt.Errorf("idem: the handler ended the transaction, which only the runtime may do: %w", pgx.ErrTxClosed)

func (h *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	ctx, err := h.beginStatement(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer h.life.end()
	tag, err := h.tx.Exec(ctx, sql, args...)
	return tag, verdict.WithoutValue(err)
}

func (h *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	ctx, err := h.beginStatement(ctx, sql, args)
	if err != nil {
		return noRows{err: err}, err
	}
	defer h.life.end()
	rows, err := h.tx.Query(ctx, sql, args...)
	if bare := verdict.WithoutValue(err); bare != err {
		return noRows{err: bare}, bare
	}
	return handlerRows{rows, h}, err
}

func (h *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	ctx, err := h.beginStatement(ctx, sql, args)
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
	return n, verdict.WithoutValue(err)
}

func (h *handlerTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := h.begin(); err != nil {
		return pgx.FailedBatchResults(b, err)
	}
	rewritten := false
	for _, q := range b.QueuedQueries {
		ends, other := h.trace.see(q.SQL, q.Arguments)
		if ends {
			return pgx.FailedBatchResults(b, h.refuse())
		}
		rewritten = rewritten || other
	}
	defer h.life.end()
	for _, q := range b.QueuedQueries {
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
