// Package chain represents a partition's chain of ledger rows as its owner knows it: the last
// known row, and the appends after that row that are open, because it is unknown whether they
// committed.
//
//	... | 811 | 812: tail | <- append: attempt 1, reply lost
//	                        <- append: attempt 2
//	                           Resolve reads which row is there: attempt 1 or 2, whose
//	                           content then counts, or another owner's; Settle moves the tail
//
// It appends and reads rows, and returns what it found. It does not decide the consequences for
// the partition or for the memory of keys. It must not import any package of this module but
// deadletter, hook, idemtype, ledger, pipeline, session, verdict and wire.
package chain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Chain is the chain of one partition, up to its tail. Only one goroutine may use it at a time.
type Chain struct {
	Now func() time.Time // the clock of the process

	stream   int32
	topic    wire.UUID // id of the topic
	tail     ledger.Tail
	standing standing
	inRow    ledger.InRow // dead letters since the last record that took effect

	// attempts are the appends sent after the tail whose outcome is unknown. The row that is
	// finally in the chain decides; its token identifies the attempt.
	attempts []Attempt
	tried    bool // an append was sent after the tail, whatever its outcome
	fresh    bool // the tail is the fence of this owner
	doubtful bool // the reply to an attempt was lost
	stalled  bool // that attempt's client seems to have stopped, and it holds its locks
}

// Attempt is one attempt to append a row, with everything that takes effect once the row is in the
// chain.
type Attempt struct {
	Row     ledger.Row
	Result  idemtype.Result
	Letters []deadletter.Letter
	Moves   []deadletter.Move // of parked records
	InRow   ledger.InRow      // dead letters since the last record that took effect, with this attempt
	Claims  []wire.Claim      // of keys that all partitions share
	Events  []hook.Event      // the outcome of each record, if a hook needs it
}

// Stream returns the number of the chain.
func (c *Chain) Stream() int32 { return c.stream }

// Topic returns the topic's id.
func (c *Chain) Topic() wire.UUID { return c.topic }

// Tail returns the last known row.
func (c *Chain) Tail() ledger.Tail { return c.tail }

// Next returns the first offset that the tail does not cover.
func (c *Chain) Next() int64 { return c.tail.Next }

// Seq returns the number of the next row.
func (c *Chain) Seq() int64 { return c.tail.Seq + 1 }

// InRow returns the count of dead letters since the last record that took effect.
func (c *Chain) InRow() ledger.InRow { return c.inRow }

// Tried reports whether an append was sent after the tail, whatever its outcome.
func (c *Chain) Tried() bool { return c.tried }

// Open returns the number of attempts whose outcome is unknown.
func (c *Chain) Open() int { return len(c.attempts) }

// Stalled reports whether an attempt whose reply was lost still seems to hold its locks.
func (c *Chain) Stalled() bool { return c.stalled }

// Doubt records that the reply to an attempt was lost.
func (c *Chain) Doubt() { c.doubtful = true }

// Locked records that an append gave up waiting for a lock. If an earlier append is in doubt, it
// may hold the lock, and its client may have stopped.
func (c *Chain) Locked() { c.stalled = c.doubtful }

// Stall sets whether the transaction that an append waits for must be terminated.
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

// Read reads the tail again. Its row contains the number of dead letters in a row before it, so
// that a new process, or the next owner, does not begin to count to on_failure.stop_after from
// zero.
func (c *Chain) Read(ctx context.Context, db Querier) (err error) {
	c.tail, err = Tail(ctx, db, c.stream)
	c.inRow = c.tail.Letters
	return err
}

// Try stores an attempt before anything that may commit it is sent.
func (c *Chain) Try(a Attempt) {
	c.attempts = append(c.attempts, a)
	c.tried = true
}

// RolledBack drops all open attempts except the first before ones. The dropped attempts certainly
// did not commit, and must not accumulate during an outage.
func (c *Chain) RolledBack(before int) {
	c.attempts = slices.Delete(c.attempts, before, len(c.attempts))
}

// Committed is an attempt that is known to be in the chain. Only two things prove that: the reply
// to its COMMIT ([Attempt.Acknowledged]), and its row ([Chain.Resolve]).
type Committed struct {
	attempt *Attempt // nil if nothing proves it
	at      Stamp
}

// Stamp is the time of an append.
type Stamp struct {
	Row   time.Time // of the row
	Clock time.Time // of the database's clock; zero if it is not known
}

// Acknowledged returns the proof that r gives, if it is the reply to the commit of the attempt. A
// transaction that had failed before replies to COMMIT with ROLLBACK, without an error. at is when
// the row was appended.
func (a *Attempt) Acknowledged(r pipeline.Reply, at Stamp) (Committed, error) {
	if !r.Committed() {
		return Committed{}, fmt.Errorf("idem: the transaction was rolled back at COMMIT: %w", verdict.ErrRolledBack)
	}
	return Committed{a, at}, nil
}

// Attempt returns the attempt. It panics if nothing proves that one committed: counting its
// records would lose them.
func (c Committed) Attempt() *Attempt {
	if c.attempt == nil {
		panic("idem: a transaction without an acknowledgment was about to count as committed")
	}
	return c.attempt
}

// Clock returns the time of the database's clock when the row was appended.
func (c Committed) Clock() time.Time { return c.at.Clock }

// Settle moves the tail to the row of an attempt of ours.
func (c *Chain) Settle(is Committed) {
	a, written := is.Attempt(), is.at.Row
	c.tail = ledger.Tail{
		Seq: c.tail.Seq + 1, Token: a.Row.Token, Next: a.Row.Next, Kind: a.Row.Kind, Epoch: a.Row.Epoch,
		Def: c.tail.Def, Parts: c.tail.Parts, Window: max(c.tail.Window, a.Row.Window), Written: written,
	}
	c.attempts, c.tried, c.fresh = c.attempts[:0], false, false
	c.inRow, c.doubtful, c.stalled = a.InRow, false, false
}

// Who names this process, for operators who read the ledger.
func Who() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

var (
	appendRow    = session.NewStatement("append", ledger.AppendSQL)
	sameRow      = session.NewStatement("same", ledger.SameSQL)
	ownRow       = session.NewStatement("own", ledger.OwnSQL)
	begin        = session.NewStatement("begin", `BEGIN`)
	mayNotCommit = session.NewStatement("commit_not", ledger.MayNotCommitSQL)
	mayCommit    = session.NewStatement("commit", ledger.MayCommitSQL)
	shortenRow   = session.NewStatement("shorten", ledger.ShortenSQL)
)

// Statements are prepared on every connection.
var Statements = []session.Statement{appendRow, sameRow, ownRow, begin, mayNotCommit, mayCommit, shortenRow, deadletter.Insert, deadletter.Settle}

// Append appends the row after the tail. It is the first statement of every transaction.
func (c *Chain) Append(r ledger.Row) pipeline.Statement {
	r.At = c.Now()
	return pipeline.Statement{Is: appendRow, Args: ledger.Append(c.stream, c.tail, r)}
}

// Same fails unless the transaction is the one that appended the row with this token, and is not
// read-only.
func (c *Chain) Same(token wire.UUID) pipeline.Statement {
	return pipeline.Statement{Is: sameRow, Args: [][]byte{ledger.Int4(c.stream), ledger.Int8(c.Seq()), token[:]}}
}

// Own fails unless the transaction is the one that appended the row with this token. [IsOther]
// recognizes the error.
func (c *Chain) Own(token wire.UUID) pipeline.Statement {
	return pipeline.Statement{Is: ownRow, Args: [][]byte{ledger.Int4(c.stream), ledger.Int8(c.Seq()), token[:]}}
}

// IsOther reports whether pg is the error of [Chain.Own] or [Chain.Same] in another transaction.
func IsOther(pg *pgconn.PgError) bool { return pg.Code == "22012" || pg.TableName == "idem_assert" }

// Begin returns the statements that begin a transaction in which handlers run. It can be committed
// only after the statement [MayCommit].
func Begin() []pipeline.Statement { return []pipeline.Statement{{Is: begin}, {Is: mayNotCommit}} }

// MayCommit is the last statement before COMMIT of a transaction that [Begin] began.
func MayCommit() pipeline.Statement { return pipeline.Statement{Is: mayCommit} }

// Shorten changes the end of the row that this transaction appended with the token was.
func (c *Chain) Shorten(was wire.UUID, r ledger.Row) pipeline.Statement {
	return pipeline.Statement{Is: shortenRow, Args: ledger.Shorten(c.stream, c.tail, was, r)}
}

// Letters returns the statements that insert dead letters with the row after the tail.
func (c *Chain) Letters(letters []deadletter.Letter) []pipeline.Statement {
	return deadletter.Statements(c.stream, c.Seq(), c.Now(), letters)
}

// Appended returns when the row was appended.
func Appended(r pipeline.Reply) Stamp {
	if len(r.Row) == 0 {
		return Stamp{}
	}
	return Stamp{ledger.Time(r.Row[0]), ledger.Time(r.Row[1])}
}

// Fence appends a row that does not move the position, but ends the memory of every other owner.
// It is the first row of a take-over. It contains the identity of events that this service writes,
// the number of partitions that the topic has now (nil if no broker provides it), and the window
// of keys. note is for people, beside the name of the process.
func (c *Chain) Fence(ctx context.Context, conn *pgx.Conn, def int32, parts *int32, window int64, note string) error {
	row := ledger.Row{Kind: ledger.Fence, Token: ledger.NewToken(), Next: c.tail.Next, Epoch: c.tail.Epoch, Window: window, Def: &def, Parts: parts, Letters: c.inRow, Info: Who() + note}
	written, err := c.send(ctx, conn, row)
	if err != nil {
		return err
	}
	c.tail = ledger.Tail{
		Seq: c.tail.Seq + 1, Token: row.Token, Next: row.Next, Kind: row.Kind, Epoch: row.Epoch,
		Def: def, Parts: c.tail.Parts, Window: max(c.tail.Window, row.Window), Written: written,
	}
	if parts != nil {
		c.tail.Parts = *parts
	}
	c.fresh = true
	return nil
}

// Untouched reports, once, whether the owner's fence is the last row that was sent, so the
// partition can be handed back.
func (c *Chain) Untouched() bool {
	untouched := c.fresh && !c.tried
	if untouched {
		c.fresh = false
	}
	return untouched
}

// HandBack appends a fence by which the owner hands the partition back.
func (c *Chain) HandBack(ctx context.Context, conn *pgx.Conn) error {
	_, err := c.send(ctx, conn, ledger.Row{
		Kind: ledger.Fence, Token: ledger.NewToken(), Next: c.tail.Next, Epoch: c.tail.Epoch, Window: c.tail.Window,
		Writer: ledger.HandBack, Letters: c.inRow, Info: "handed back by " + Who(),
	})
	return err
}

// send appends a row in a transaction of its own.
func (c *Chain) send(ctx context.Context, conn *pgx.Conn, row ledger.Row) (time.Time, error) {
	p := pipeline.New(ctx, conn)
	p.Add(c.Append(row))
	r, err := p.Run()
	return Appended(r).Row, err
}

// Found says whose row was found in the chain.
type Found uint8

// Whose row is there.
const (
	Nothing    Found = iota
	Own              // one of our attempts, even if its reply was lost
	ByOperator       // an operator's row
	ByFence          // another owner's fence
	ByOther          // another owner's batch
)

// Resolved is the row after the tail.
type Resolved struct {
	Found     Found
	Committed Committed // of Own
}

// Resolve reads the row after the tail. If its token is that of one of our attempts, that attempt
// committed, and its content takes effect. Otherwise another owner appended: the tail moves to
// that row, and a partition in STANDBY continues reading from there.
func (c *Chain) Resolve(ctx context.Context, db Querier) (s Resolved, err error) {
	token, kind, writer, written, err := row(ctx, db, c.stream, c.Seq())
	if errors.Is(err, pgx.ErrNoRows) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s = Resolved{Found: ByOther}
	if i := slices.IndexFunc(c.attempts, func(a Attempt) bool { return a.Row.Token == token }); i >= 0 {
		own := c.attempts[i]
		return Resolved{Own, Committed{&own, Stamp{Row: written}}}, nil
	}
	if writer == ledger.Person {
		s.Found = ByOperator
	} else if kind == ledger.Fence {
		s.Found = ByFence
	}
	c.tail = ledger.Tail{Seq: c.Seq(), Token: token, Next: c.tail.Next, Epoch: c.tail.Epoch, Kind: kind, Writer: writer}
	return s, nil
}

// Check checks whether the chain still ends with the tail. moved means that a row follows the
// tail, and lost that the tail is gone.
func (c *Chain) Check(ctx context.Context, db Querier) (moved, lost bool, err error) {
	t, err := Tail(ctx, db, c.stream)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return false, false, err
	case t.Token == c.tail.Token:
		return false, false, nil
	case t.Seq <= c.tail.Seq:
		return false, true, nil
	}
	token, _, _, _, err := row(ctx, db, c.stream, c.tail.Seq)
	if err == nil && token == c.tail.Token || errors.Is(err, pgx.ErrNoRows) { // or the upkeep removed it
		return true, false, nil
	}
	return false, err == nil, err
}

func row(ctx context.Context, db Querier, stream int32, seq int64) (token wire.UUID, kind, writer byte, written time.Time, err error) {
	err = db.QueryRow(ctx, ledger.RowSQL, stream, seq).Scan(&token, &kind, &written, &writer)
	return token, kind, writer, written, err
}

// Mark returns the mark of the tail, without a fencing token.
func (c *Chain) Mark(consumer string) ledger.Mark {
	return ledger.Mark{
		Stream: c.standing.id, Seq: c.tail.Seq, Token: c.tail.Token, Next: c.tail.Next, High: max(c.tail.Next, c.standing.lostTo), Consumer: consumer,
	}
}
