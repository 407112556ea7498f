// Package chain is a partition's chain of ledger rows as its owner knows it: up to which row,
// and which appends after that row are open, because nobody knows whether they committed.
//
//	... | 811 | 812: tail | <- append: attempt 1, reply lost
//	                        <- append: attempt 2
//	                           Resolve reads which row is there: attempt 1 or 2, whose
//	                           content then counts, or another owner's; Settle moves the tail
//
// It appends and reads, and returns what it found. What follows for the partition, and for the
// memory of keys, is not decided here. It must not import any package of this module but
// deadletter, hook, idemtype, ledger, pipeline, session and wire.
package chain

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Chain is the chain of one partition, up to its tail. It is used by one goroutine at a time.
type Chain struct {
	stream int32
	topic  wire.UUID // id of the topic
	tail   ledger.Tail
	inRow  ledger.InRow // dead letters since the last record that took effect

	// attempts are the appends sent after the tail whose fate is open. The row that is there in
	// the end is the truth; its token tells which of them it was.
	attempts []Attempt
	tried    bool // an append was sent after the tail, whatever became of it
	fresh    bool // the tail is the fence of this owner
	doubtful bool // the answer to an attempt was lost
	stalled  bool // that attempt's client seems to have stopped, and it holds its locks
}

// Attempt is one sending of an append, with all that counts once its row is in the chain.
type Attempt struct {
	Row     ledger.Row
	Result  idemtype.Result
	Letters []deadletter.Letter
	Moves   []deadletter.Move // of records that wait for their record key
	InRow   ledger.InRow      // dead letters since the last record that took effect, with this attempt
	Claims  []wire.Claim      // of keys that all partitions share
	Events  []hook.Event      // what became of each record, if a hook asks
}

// Stream is the number of the chain.
func (c *Chain) Stream() int32 { return c.stream }

// Topic is the topic's id.
func (c *Chain) Topic() wire.UUID { return c.topic }

// Tail is the last row known.
func (c *Chain) Tail() ledger.Tail { return c.tail }

// Next is the first offset that the tail does not cover.
func (c *Chain) Next() int64 { return c.tail.Next }

// Seq is the place of the next row.
func (c *Chain) Seq() int64 { return c.tail.Seq + 1 }

// InRow counts dead letters since the last record that took effect.
func (c *Chain) InRow() ledger.InRow { return c.inRow }

// Tried reports whether an append was sent after the tail, whatever became of it.
func (c *Chain) Tried() bool { return c.tried }

// Open is how many attempts there are whose fate is open.
func (c *Chain) Open() int { return len(c.attempts) }

// Stalled reports whether an attempt whose answer was lost seems to hold its locks still.
func (c *Chain) Stalled() bool { return c.stalled }

// Doubt says that the answer to an attempt was lost.
func (c *Chain) Doubt() { c.doubtful = true }

// Locked says that an append gave up waiting for a lock. If an earlier one is in doubt, that one
// may hold the lock, and its client may have stopped.
func (c *Chain) Locked() { c.stalled = c.doubtful }

// Stall says whether the transaction that an append waits for is to be ended.
func (c *Chain) Stall(is bool) { c.stalled = is }

// Querier is a connection, or a pool of them.
type Querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Tail reads the last row of a chain.
func Tail(ctx context.Context, db Querier, stream int32) (t ledger.Tail, err error) {
	err = db.QueryRow(ctx, ledger.TailSQL, stream).Scan(t.Fields()...)
	return t, err
}

// Read reads the tail again. Its row says how many dead letters in a row there were before it: a
// new process, or the next owner, must not begin to count to on_failure.stop_after from zero.
func (c *Chain) Read(ctx context.Context, db Querier) (err error) {
	c.tail, err = Tail(ctx, db, c.stream)
	c.inRow = c.tail.Letters
	return err
}

// Try keeps an attempt before anything that may commit it is sent.
func (c *Chain) Try(a Attempt) {
	c.attempts = append(c.attempts, a)
	c.tried = true
}

// RolledBack drops the open attempts but the first ones, as many as before says: they surely did
// not commit, and an outage must not fill the memory with them.
func (c *Chain) RolledBack(before int) {
	c.attempts = slices.Delete(c.attempts, before, len(c.attempts))
}

// Settle moves the tail to the row after it, which is known to be ours.
func (c *Chain) Settle(a Attempt, written time.Time) {
	c.tail = ledger.Tail{
		Seq: c.tail.Seq + 1, Token: a.Row.Token, Next: a.Row.Next, Kind: a.Row.Kind, Epoch: a.Row.Epoch,
		Def: c.tail.Def, Parts: c.tail.Parts, Window: max(c.tail.Window, a.Row.Window), Written: written,
	}
	c.attempts, c.tried, c.fresh = c.attempts[:0], false, false
	c.inRow, c.doubtful, c.stalled = a.InRow, false, false
}

// Who names this process for people who read the ledger.
func Who() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}
