package chain

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

var (
	appendRow  = session.NewStatement("append", ledger.AppendSQL)
	sameRow    = session.NewStatement("same", ledger.SameSQL)
	ownRow     = session.NewStatement("own", ledger.OwnSQL)
	mayCommit  = session.NewStatement("commit", ledger.MayCommitSQL)
	shortenRow = session.NewStatement("shorten", ledger.ShortenSQL)
)

// Statements are prepared on every connection.
var Statements = []session.Statement{appendRow, sameRow, ownRow, mayCommit, shortenRow, deadletter.Insert, deadletter.Settle}

// Append appends the row after the tail. It is the first statement of every transaction.
func (c *Chain) Append(r ledger.Row) pipeline.Statement {
	return pipeline.Statement{Is: appendRow, Args: ledger.Append(c.stream, c.tail, r)}
}

// Same is refused unless the transaction is the one that appended the row with a token, and takes
// writes.
func (c *Chain) Same(token wire.UUID) pipeline.Statement {
	return pipeline.Statement{Is: sameRow, Args: [][]byte{ledger.Int4(c.stream), ledger.Int8(c.Seq()), token[:]}}
}

// Own is refused unless the transaction is the one that appended the row with a token. [IsOther]
// knows the error.
func (c *Chain) Own(token wire.UUID) pipeline.Statement {
	return pipeline.Statement{Is: ownRow, Args: [][]byte{ledger.Int4(c.stream), ledger.Int8(c.Seq()), token[:]}}
}

// IsOther reports whether pg is the error of [Chain.Own] or [Chain.Same] in another transaction.
func IsOther(pg *pgconn.PgError) bool { return pg.Code == "22012" || pg.TableName == "idem_assert" }

// Begin begins a transaction in which handlers run. Only after the statement [MayCommit] can it be
// committed.
func Begin(ctx context.Context, conn *pgx.Conn) (pgx.Tx, error) {
	return conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: ledger.BeginSQL})
}

// MayCommit is the last statement before COMMIT of a transaction that [Begin] began.
func MayCommit() pipeline.Statement { return pipeline.Statement{Is: mayCommit} }

// Shorten gives the row that this very transaction appended, with the token was, another end.
func (c *Chain) Shorten(was wire.UUID, r ledger.Row) pipeline.Statement {
	return pipeline.Statement{Is: shortenRow, Args: ledger.Shorten(c.stream, c.tail, was, r)}
}

// Letters insert dead letters with the row after the tail.
func (c *Chain) Letters(letters []deadletter.Letter) []pipeline.Statement {
	return deadletter.Statements(c.stream, c.Seq(), letters)
}

// Written is when the appended row was written, by the database's clock.
func Written(r pipeline.Reply) time.Time {
	if len(r.Row) == 0 {
		return time.Time{}
	}
	return ledger.Time(r.Row[0])
}

// Fence appends a row that moves nothing but ends every other owner's memory: at the take-over,
// with the identity of events that this service writes, the partitions that the topic has now
// (nil if no broker says), and the window of keys.
func (c *Chain) Fence(ctx context.Context, conn *pgx.Conn, def int32, parts *int32, window int64) error {
	row := ledger.Row{Kind: ledger.Fence, Token: ledger.NewToken(), Next: c.tail.Next, Epoch: c.tail.Epoch, Window: window, Def: &def, Parts: parts, Letters: c.inRow, Info: Who()}
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

// Untouched reports, once, whether the owner's fence is the last that was sent: then it can
// hand the partition back.
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
	return Written(r), err
}
