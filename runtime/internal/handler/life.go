package handler

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/footprint"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// Left is what a call may have left behind for what follows.
type Left uint8

// What a call may leave.
const (
	Session   Left = 1 << iota // settings, a role, temporary tables, another transaction
	Savepoint                  // a savepoint; or one of an earlier call is gone
)

// trace is what a handler's statements may have left behind for those of others.
type trace struct {
	texts *footprint.Memo
	seen  atomic.Uint32 // of Left
	open  atomic.Int32  // savepoints that pgx set and that are not released
}

// left is what the call may have left behind.
func (t *trace) left() Left {
	l := Left(t.seen.Load())
	if t.open.Load() != 0 {
		l |= Savepoint
	}
	return l
}

// anything notes that nobody sees what the handler sends.
func (t *trace) anything() { t.seen.Or(uint32(Session | Savepoint)) }

// see notes what a statement leaves. It reports whether the statement ends the transaction.
func (t *trace) see(sql string) (ends bool) {
	f := t.texts.Of(sql)
	if f&footprint.Leaves != 0 {
		t.seen.Or(uint32(Session))
	}
	if f&footprint.Nests != 0 {
		t.seen.Or(uint32(Savepoint))
	}
	return f&footprint.Ends != 0
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
