package handler

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/footprint"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// trace is what a handler's statements may have left behind for those of others: settings,
// a role, temporary tables, another transaction.
type trace struct {
	texts *footprint.Memo
	left  atomic.Bool
}

// see reads a statement before it runs. Another rewriter than pgx's own may make any
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

// begin is before every use of the connection, and end after it.
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
	return verdict.Permanent(errStatementLeft)
}

// cut lets nothing begin any more, and waits for nothing: what runs may never end.
func (l *txLife) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}
