package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Change is a row that was appended, or would be; or the last row where there is nothing to
// append.
type Change struct {
	Consumer   string `json:"consumer"`
	Topic      string `json:"topic"`
	TopicID    string `json:"topic_id"`
	Partition  int32  `json:"partition"`
	Seq        int64  `json:"seq"`
	Kind       string `json:"kind"` // as in Row; "" where there is nothing to append
	From       int64  `json:"from"` // the position before; that after, for a genesis
	To         int64  `json:"to"`   // the position after
	Partitions int32  `json:"partitions"`
	Identity   string `json:"identity"` // as in Tail
	Info       string `json:"info"`     // who and why
	Effect     string `json:"effect"`   // what the row does, in words
	Appended   bool   `json:"appended"` // false: a dry run, or there is nothing to append
}

// change is one command on one stream.
type change struct {
	db     DB
	status Status
	info   string
	dry    bool
	// decide says which row follows a tail, and what the row does. It is asked again when the tail
	// has moved, since another row may be right then. A row without a kind says that there is
	// nothing to do.
	decide func(t ledger.Tail) (row ledger.Row, effect string, err error)
	sent   []sent
}

// sent is an append whose fate is open.
type sent struct {
	seq   int64
	token wire.UUID
	done  Change
}

const (
	// patience is how long a command tries. A worker under load appends every few
	// milliseconds, and may hold the next place for as long as a batch takes.
	patience = 30 * time.Second
	pause    = 10 * time.Millisecond
)

// run appends the row. Whatever happens to a reply, it is appended once or not at all: the
// next try goes to the same place, which only one row can have.
func (c *change) run(ctx context.Context) (Change, error) {
	for end := time.Now().Add(patience); ; {
		done, err := c.try(ctx)
		if err == nil {
			return done, nil
		}
		last, ok := errors.AsType[*againError](err)
		switch {
		case !ok:
			return done, err
		case ctx.Err() != nil || time.Now().After(end):
			return done, c.givenUp(last)
		}
		time.Sleep(pause)
	}
}

// givenUp is the error when the time is over.
func (c *change) givenUp(last *againError) error {
	if len(c.sent) > 0 {
		return fmt.Errorf("%v: the row was sent, but it is not known whether it is there; check with list before you try again: %w",
			c.status.Name(), last.err)
	}
	if isLockTimeout(last.err) {
		return fmt.Errorf("%v: a worker holds the next place of the ledger, in a transaction that has not ended for %v; it ends at limits.batch_timeout at the latest, or with the worker: %w",
			c.status.Name(), patience, last.err)
	}
	return fmt.Errorf("%v: the ledger moved on at every try for %v; try again, or stop the worker first: %w", c.status.Name(), patience, last.err)
}

// againError is an error after which the tail must be read again.
type againError struct{ err error }

func (e *againError) Error() string { return e.err.Error() }
func (e *againError) Unwrap() error { return e.err }

// try reads the tail and appends to it, or finds that an earlier try did.
func (c *change) try(ctx context.Context) (Change, error) {
	var tail ledger.Tail
	err := c.db.QueryRow(ctx, ledger.TailSQL, pgx.QueryExecModeExec, c.status.Stream).Scan(tail.Fields()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return Change{}, fmt.Errorf("%v: the rows of its ledger are gone; --from none begins a new one", c.status.Name())
	}
	if err != nil {
		return Change{}, again(err, len(c.sent) > 0)
	}
	if done, found, err := c.settled(ctx, tail); found || err != nil {
		return done, err
	}
	row, effect, err := c.decide(tail)
	if err != nil {
		return Change{}, err
	}
	if row.Kind == 0 {
		row.Next = tail.Next
		done := c.describe(tail, row, effect)
		done.Seq, done.Info = tail.Seq, ledger.Said(tail.Info, tail.Letters)
		return done, nil
	}
	row.Token, row.Writer, row.Info, row.Window = ledger.NewToken(), ledger.Person, c.info, tail.Window
	done := c.describe(tail, row, effect)
	if c.dry {
		return done, nil
	}
	done.Appended = true
	switch sentIt, err := appendRow(ctx, c.db, c.status.Stream, tail, row); {
	case err == nil:
		return done, nil
	case !sentIt:
		return done, again(err, len(c.sent) > 0)
	case isUnknown(err):
		c.sent = append(c.sent, sent{tail.Seq + 1, row.Token, done})
		return done, &againError{err}
	case isMoved(err), isLockTimeout(err):
		return done, &againError{err}
	default:
		return done, Explain(err)
	}
}

// again is the verdict on an error of a statement that changes nothing. If something sent
// before is in doubt, the tail must be read again.
func again(err error, inDoubt bool) error {
	if inDoubt && isUnknown(err) {
		return &againError{err}
	}
	return Explain(err)
}

// settled reads whether one of the tries whose reply was lost has its row in the chain.
func (c *change) settled(ctx context.Context, tail ledger.Tail) (done Change, found bool, err error) {
	for i := range c.sent {
		s := &c.sent[i]
		if s.seq > tail.Seq {
			continue
		}
		var token wire.UUID
		var kind, writer byte
		var written time.Time
		err := c.db.QueryRow(ctx, ledger.RowSQL, pgx.QueryExecModeExec, c.status.Stream, s.seq).Scan(&token, &kind, &written, &writer)
		switch {
		case err == nil && token == s.token:
			return s.done, true, nil
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			return Change{}, false, again(err, len(c.sent) > 0)
		}
	}
	return Change{}, false, nil
}

func (c *change) describe(t ledger.Tail, r ledger.Row, effect string) Change {
	d := Change{
		Consumer: c.status.Consumer, Topic: c.status.Topic, TopicID: c.status.TopicID, Partition: c.status.Partition,
		Seq: t.Seq + 1, Kind: kinds[r.Kind], From: t.Next, To: r.Next, Partitions: t.Parts, Identity: identity(t.Def), Info: c.info, Effect: effect,
	}
	if r.Parts != nil {
		d.Partitions = *r.Parts
	}
	if r.Def != nil {
		d.Identity = identity(*r.Def)
	}
	return d
}

// appendRow appends in a transaction with settings of its own, because the connection is
// the caller's. Parameters go as the worker sends them, and nothing is prepared by name, so
// that it works through a connection pooler as well.
func appendRow(ctx context.Context, db DB, stream int32, t ledger.Tail, r ledger.Row) (sent bool, err error) {
	return transact(ctx, db, func(conn *pgconn.PgConn) error {
		_, err := exec(ctx, conn, ledger.AppendSQL, ledger.Append(stream, t, r)...)
		return err
	})
}

// exec runs a statement whose parameters are in binary and tells how many rows it wrote.
func exec(ctx context.Context, conn *pgconn.PgConn, sql string, params ...[]byte) (int64, error) {
	formats := slices.Repeat([]int16{pgx.BinaryFormatCode}, len(params))
	r := conn.ExecParams(ctx, sql, params, nil, formats, nil).Read()
	return r.CommandTag.RowsAffected(), r.Err
}

const settingsSQL = `SELECT set_config('lock_timeout', '5s', true), set_config('statement_timeout', '60s', true), set_config('synchronous_commit', 'on', true)`

// transact runs do in a transaction that waits five seconds for a lock. It tells whether
// anything can have been sent.
func transact(ctx context.Context, db DB, do func(conn *pgconn.PgConn) error) (sent bool, err error) {
	tx, err := db.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return false, err
	}
	conn := tx.Conn().PgConn()
	if err = conn.Exec(ctx, settingsSQL).Close(); err == nil {
		err = do(conn)
	}
	if err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx))
		return true, err
	}
	return true, tx.Commit(ctx)
}

// isUnknown reports whether nobody can say what became of a transaction: there was no
// answer, or one that says so.
func isUnknown(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return !errors.Is(err, pgx.ErrTxCommitRollback)
	}
	return pg.Code == "40003" || pg.Code[:2] == "08" || pg.Code[:3] == "57P"
}

// isMoved reports whether the row that was appended to is not the last one any more.
func isMoved(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.TableName == "idem_ledger" &&
		(pg.Code == "23505" && pg.ConstraintName == "idem_ledger_pkey" || pg.Code == "23502" && pg.ColumnName == "prev")
}

func isLockTimeout(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "55P03"
}
