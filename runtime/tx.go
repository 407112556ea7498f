package idem

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/internal/footprint"
)

// handlerTx is what handlers get: the transaction without its end. A type of its own, so
// that tx.(pgx.Tx) fails and nobody commits by accident.
type handlerTx struct {
	tx    pgx.Tx
	life  *txLife
	trace *trace
	own   *callContext // the handler's; nil if statements need all that it knows
}

// during is the context for a statement that a handler runs during ctx. A rewriter may ask it
// for the call.
func (h *handlerTx) during(ctx context.Context, rewritten bool) context.Context {
	if h.own != nil && !rewritten && ctx == context.Context(h.own) {
		return h.own.Statements()
	}
	return ctx
}

// trace is what a handler's statements may have left behind for those of others: settings,
// a role, temporary tables, another transaction.
type trace struct {
	texts *footprint.Memo
	left  atomic.Bool
}

// see looks at a statement before it runs. Another rewriter than pgx's own may make any
// statement of its text.
func (t *trace) see(sql string, args []any) (rewritten bool) {
	for _, a := range args {
		switch a.(type) {
		case pgx.NamedArgs, pgx.StrictNamedArgs:
		case pgx.QueryRewriter:
			t.left.Store(true)
			rewritten = true
		}
	}
	if !t.texts.None(sql) {
		t.left.Store(true)
	}
	return rewritten
}

// txLife knows when a handler's transaction is over for it: when the handler has returned.
// The connection goes on with other records then, or in no transaction at all, so that a
// statement of a goroutine left behind would take effect without its event.
type txLife struct {
	mu      sync.Mutex
	over    bool
	running int       // statements
	idle    sync.Cond // of mu: none runs
}

// begin is before every use of the connection, and end behind it.
func (l *txLife) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return pgx.ErrTxClosed
	}
	l.running++
	return nil
}

func (l *txLife) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running--; l.running == 0 {
		l.idle.Broadcast()
	}
}

var errStatementLeft = errors.New("the handler returned while a statement of its transaction was running")

// close lets nothing begin any more and waits for what runs. That something did is an error:
// nobody knows what else its goroutine would have done.
func (l *txLife) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.running == 0 {
		return nil
	}
	for l.running > 0 {
		l.idle.Wait()
	}
	return Permanent(errStatementLeft)
}

// cut lets nothing begin any more, and waits for nothing: what runs may never end.
func (l *txLife) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}

func (h *handlerTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := h.life.begin(); err != nil {
		return pgconn.CommandTag{}, err
	}
	defer h.life.end()
	tag, err := h.tx.Exec(h.during(ctx, h.trace.see(sql, args)), sql, args...)
	return tag, withoutValue(err)
}

func (h *handlerTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := h.life.begin(); err != nil {
		return noRows{err: err}, err
	}
	defer h.life.end()
	rows, err := h.tx.Query(h.during(ctx, h.trace.see(sql, args)), sql, args...)
	if bare := withoutValue(err); bare != err {
		return noRows{err: bare}, bare
	}
	return handlerRows{rows, h}, err
}

func (h *handlerTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := h.life.begin(); err != nil {
		return noRows{err: err}
	}
	defer h.life.end()
	return bareRow{h.tx.QueryRow(h.during(ctx, h.trace.see(sql, args)), sql, args...)}
}

func (h *handlerTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, src pgx.CopyFromSource) (int64, error) {
	if err := h.life.begin(); err != nil {
		return 0, err
	}
	defer h.life.end()
	n, err := h.tx.CopyFrom(h.during(ctx, false), table, columns, src)
	return n, withoutValue(err)
}

func (h *handlerTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := h.life.begin(); err != nil {
		return pgx.FailedBatchResults(b, err)
	}
	defer h.life.end()
	rewritten := false
	for _, q := range b.QueuedQueries {
		rewritten = h.trace.see(q.SQL, q.Arguments) || rewritten
		if then := q.Fn; then != nil {
			q.Fn = func(r pgx.BatchResults) error { return then(bareResults{r, h}) }
		}
	}
	return bareResults{h.tx.SendBatch(h.during(ctx, rewritten), b), h}
}

// conn is the connection itself, of which nobody sees what runs on it; nil when the
// transaction is over.
func (h *handlerTx) conn() *pgx.Conn {
	if h.life.begin() != nil {
		return nil
	}
	defer h.life.end()
	h.trace.left.Store(true)
	return h.tx.Conn()
}

// handlerRows are rows whose connection is the handler's.
type handlerRows struct {
	pgx.Rows
	of *handlerTx
}

func (r handlerRows) Conn() *pgx.Conn { return r.of.conn() }

// noRows is the result of a query that was not sent.
type noRows struct{ err error }

func (noRows) Close()                                       {}
func (r noRows) Err() error                                 { return r.err }
func (noRows) CommandTag() (tag pgconn.CommandTag)          { return tag }
func (noRows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (noRows) RawValues() [][]byte                          { return nil }
func (r noRows) Values() ([]any, error)                     { return nil, r.err }
func (noRows) Conn() *pgx.Conn                              { return nil }
func (noRows) TypeMap() *pgtype.Map                         { return nil }
func (noRows) Next() bool                                   { return false }
func (r noRows) Scan(...any) error                          { return r.err }

// PgxTx returns the pgx transaction behind tx, for libraries that ask for one, such as
// river's InsertTx. Its Commit and Rollback return [ErrTxOwned]; Begin gives a savepoint
// as usual. Like tx it ends with the handler: later calls return [pgx.ErrTxClosed]. What
// its Conn and LargeObjects gave must not be kept for longer either, which nothing checks.
// It panics if tx did not come from the runtime or from pgx.
func PgxTx(tx Tx) pgx.Tx {
	switch t := tx.(type) {
	case *handlerTx:
		return ownedTx{t}
	case pgx.Tx:
		return t
	}
	panic(fmt.Sprintf("idem: PgxTx: %T is no transaction of the runtime or of pgx", tx))
}

// ownedTx is a handler's transaction in pgx's terms.
type ownedTx struct{ *handlerTx }

func (ownedTx) Commit(context.Context) error   { return ErrTxOwned }
func (ownedTx) Rollback(context.Context) error { return ErrTxOwned }

func (t ownedTx) Begin(ctx context.Context) (pgx.Tx, error) {
	if err := t.life.begin(); err != nil {
		return nil, err
	}
	defer t.life.end()
	savepoint, err := t.tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return savepointTx{ownedTx{&handlerTx{savepoint, t.life, t.trace, t.own}}}, nil
}

func (t ownedTx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	if err := t.life.begin(); err != nil {
		return nil, err
	}
	defer t.life.end()
	t.trace.see(sql, nil) // it runs by its name later
	return t.tx.Prepare(ctx, name, sql)
}

// Conn returns nil when the transaction is over.
func (t ownedTx) Conn() *pgx.Conn { return t.conn() }

// LargeObjects returns a value that cannot be used when the transaction is over.
func (t ownedTx) LargeObjects() pgx.LargeObjects {
	if t.life.begin() != nil {
		return pgx.LargeObjects{}
	}
	defer t.life.end()
	return t.tx.LargeObjects()
}

// savepointTx is a savepoint in a handler's transaction, which the handler ends itself.
type savepointTx struct{ ownedTx }

func (t savepointTx) Commit(ctx context.Context) error { return t.finish(ctx, t.tx.Commit) }

func (t savepointTx) Rollback(ctx context.Context) error { return t.finish(ctx, t.tx.Rollback) }

func (t savepointTx) finish(ctx context.Context, how func(context.Context) error) error {
	if err := t.life.begin(); err != nil {
		return err
	}
	defer t.life.end()
	return how(ctx)
}
