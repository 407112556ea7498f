package handler

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/footprint"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// Left is what a call may have left in the session.
type Left uint8

// What a call may leave.
const (
	Session   Left = 1 << iota // settings, a role, temporary tables, another transaction
	Savepoint                  // a savepoint; or one of an earlier call is gone
)

// trace records what a handler's statements may have left in the session.
type trace struct {
	texts *footprint.Memo
	seen  atomic.Uint32 // of Left
	open  atomic.Int32  // savepoints that pgx set and that are not released
}

// left returns what the call may have left in the session.
func (t *trace) left() Left {
	l := Left(t.seen.Load())
	if t.open.Load() != 0 {
		l |= Savepoint
	}
	return l
}

// anything records that the handler may have sent any statement.
func (t *trace) anything() { t.seen.Or(uint32(Session | Savepoint)) }

// see records what a statement may leave in the session. It reports whether the statement ends the
// transaction.
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

// txLife ends when the handler has returned. After that the connection is used for other records,
// or without a transaction, so a statement of a goroutine that the handler left behind would take
// effect without the event.
type txLife struct {
	mu        sync.Mutex
	over      bool
	sending   bool      // what is queued
	answering bool      // a callback of a queued statement runs
	copying   bool      // rows of a CopyFrom are read
	running   int       // uses
	idle      sync.Cond // of mu: none is running
}

// begin is called before every use of the transaction, and end after it. A statement may be queued
// while another goroutine sends what is queued; nothing else can be done meanwhile.
func (l *txLife) begin(queues bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.answering: // the handler may have returned, and what it queued is answered now
		return errAnswering
	case l.over:
		return pgx.ErrTxClosed
	case l.copying && !queues:
		return errCopying
	case l.sending && !queues:
		return errSending
	}
	l.running++
	return nil
}

var (
	errAnswering = errors.New("idem: a callback of Queue must not use the Tx, nor may another goroutine while it runs: if the handler needs the answer of a statement, use tx.Exec or tx.Query in place of tx.Queue")
	errCopying   = errors.New("idem: the transaction was used during a CopyFrom: neither its source nor another goroutine may use it then")
	errSending   = errors.New("idem: the transaction was used by two goroutines at once: one of them is sending what is queued")
)

func (l *txLife) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running--; l.running == 0 {
		l.idle.Broadcast()
	}
}

// send is called before queued statements are sent, and sent after that. Meanwhile nothing else
// may use the connection. send reports false if they are being sent already or, if alone is set,
// if the transaction has another use.
func (l *txLife) send(alone bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sending || alone && l.running > 1 {
		return false
	}
	l.sending = true
	return true
}

// answers sets whether a callback runs.
func (l *txLife) answers(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answering = is
}

// copies sets whether the rows of a CopyFrom are read.
func (l *txLife) copies(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.copying = is
}

func (l *txLife) sent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sending = false
}

var errStatementLeft = errors.New("the handler returned while a statement of its transaction was running")

// close prevents further statements and waits for those that are running. If there were any, that
// is an error, because it is unknown what else their goroutine would have done.
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

// cut prevents further statements, and does not wait: a running one may never end.
func (l *txLife) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}
