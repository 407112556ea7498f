package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Change is a row that was appended, or would be, or the last row if there is nothing to append.
type Change struct {
	Name
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

// Each runs a command on several streams, first without appending: if it is rejected for one of
// them, none is changed. If the command fails later, Each stops: the error says which partitions
// are done, and their changes are returned.
func Each(names []Name, by By, do func(Name, By) (Change, error)) (all []Change, err error) {
	if dry := by; len(names) > 1 && !by.DryRun {
		dry.DryRun = true
		for _, name := range names {
			if _, err := do(name, dry); err != nil {
				return nil, fmt.Errorf("%w; nothing was appended to any partition", err)
			}
		}
	}
	for i, name := range names {
		c, err := do(name, by)
		if err != nil && i > 0 {
			err = fmt.Errorf("%w; partitions %s are done, %s are not", err, numbers(names[:i]), numbers(names[i:]))
		}
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func numbers(names []Name) string {
	var all []string
	for _, n := range names {
		all = append(all, fmt.Sprint(n.Partition))
	}
	return strings.Join(all, ", ")
}

// change moves the position of a stream that has a ledger.
type change struct {
	command
	status Status
	ends   bool // a pause: after the rows of other commands a paused partition stays paused
	// decide returns the row to append after a tail, and its effect. It is called again if the
	// tail has moved, because another row may then be right. A row without a kind means that there
	// is nothing to do.
	decide func(t ledger.Tail) (row ledger.Row, effect string, err error)
}

// begin finds the stream and runs a command on it, which ends no pause.
func begin(ctx context.Context, db DB, name Name, by By, decide func(ledger.Tail) (ledger.Row, string, error)) (Change, error) {
	return beginPaused(ctx, db, name, by, false, decide)
}

// beginPaused is begin for a command that may end a pause.
func beginPaused(ctx context.Context, db DB, name Name, by By, ends bool, decide func(ledger.Tail) (ledger.Row, string, error)) (Change, error) {
	status, err := StreamOf(ctx, db, name)
	if err != nil {
		return Change{}, err
	}
	c := &change{command{db: db, name: name}, status, ends, decide}
	return c.run(ctx, by, c.try)
}

// try reads the tail and appends to it, or finds that an earlier try has appended.
func (c *change) try(ctx context.Context) (Change, error) {
	var tail ledger.Tail
	found, err := one(ctx, c.db, tail.Fields(), ledger.TailSQL, c.status.Stream)
	if err != nil {
		return Change{}, c.read(err)
	}
	if !found {
		return Change{}, fmt.Errorf("%v: the rows of its ledger are gone; --from none begins a new one", c.name)
	}
	if done, found, err := c.settled(ctx, c.status.Stream, tail.Seq); found || err != nil {
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
	stays := tail.Kind == ledger.Pause && !c.ends
	if stays {
		effect += "; it stays paused"
	}
	row.Token, row.Writer, row.Info, row.Window = ledger.NewToken(), ledger.Person, c.info, tail.Window
	if row.At, err = now(ctx, c.db, c.status.Stream); err != nil {
		return Change{}, c.read(err)
	}
	return c.write(ctx, sent{tail.Seq + 1, row.Token, c.describe(tail, row, effect)}, func(conn *pgconn.PgConn) (int64, error) {
		rows, err := exec(ctx, conn, ledger.AppendSQL, ledger.Append(c.status.Stream, tail, row)...)
		if err == nil && rows == 1 && stays {
			pause := ledger.Row{Kind: ledger.Pause, Token: ledger.NewToken(), Next: row.Next, Epoch: row.Epoch, Window: tail.Window, Writer: ledger.Person, Info: c.info, At: row.At}
			rows, err = exec(ctx, conn, ledger.AppendSQL, ledger.Append(c.status.Stream, ledger.Tail{Seq: tail.Seq + 1, Token: row.Token, Next: row.Next}, pause)...)
		}
		return rows, err
	})
}

// now returns the time for an operator's row of a stream. It is after the last rows of the former
// topics of this name, even if a clock was ahead when they were written.
func now(ctx context.Context, db DB, stream int32) (time.Time, error) {
	var former *time.Time
	now := time.Now()
	if _, err := one(ctx, db, []any{&former}, ledger.FormerSQL, stream); err != nil {
		return now, err
	}
	if former != nil && former.After(now) {
		return *former, nil
	}
	return now, nil
}

func (c *change) describe(t ledger.Tail, r ledger.Row, effect string) Change {
	d := Change{
		Name: c.status.Name, Seq: t.Seq + 1, Kind: kinds[r.Kind], From: t.Next, To: r.Next, Partitions: t.Parts, Identity: identity(t.Def), Info: c.info, Effect: effect,
	}
	if r.Parts != nil {
		d.Partitions = *r.Parts
	}
	if r.Def != nil {
		d.Identity = identity(*r.Def)
	}
	return d
}

// command is one command on one stream.
type command struct {
	db   DB
	name Name
	info string
	dry  bool
	sent []sent
}

// sent is a row with an unknown outcome: it was sent, and there was no reply.
type sent struct {
	seq   int64
	token wire.UUID
	done  Change
}

const (
	// patience is how long a command tries. A busy worker appends every few milliseconds, and may
	// lock the next row for as long as a batch takes.
	patience = 30 * time.Second
	pause    = 10 * time.Millisecond
)

// run tries until a try ends other than with an againError. Even if a reply is lost, the row is
// written at most once: the next try uses the same row number, which only one row can have.
func (c *command) run(ctx context.Context, by By, try func(context.Context) (Change, error)) (Change, error) {
	who, err := by.text(ctx, c.db)
	if err != nil {
		return Change{}, err
	}
	c.info, c.dry = "operator "+who, by.DryRun
	for end := time.Now().Add(patience); ; time.Sleep(pause) {
		done, err := try(ctx)
		last, again := errors.AsType[*againError](err)
		switch {
		case again && ctx.Err() == nil && time.Now().Before(end):
			continue
		case err != nil && len(c.sent) > 0:
			err = fmt.Errorf("%v: the row was sent, but it is unknown whether it was stored; check with list before you try again: %w", c.name, err)
		case again && isLockTimeout(last.err):
			err = fmt.Errorf("%v: a worker holds the next row of the ledger, in a transaction that has not ended for %v; "+
				"it ends at limits.batch_timeout at the latest, or with the worker: %w", c.name, patience, last.err)
		case again:
			err = fmt.Errorf("%v: the ledger changed during every attempt for %v; try again, or stop the worker first: %w", c.name, patience, last.err)
		}
		return done, err
	}
}

// againError is an error after which the ledger must be read again.
type againError struct{ err error }

func (e *againError) Error() string { return e.err.Error() }
func (e *againError) Unwrap() error { return e.err }

// read classifies an error of a statement that changes nothing. If an earlier row is in doubt, the
// ledger must be read again.
func (c *command) read(err error) error {
	if err != nil && len(c.sent) > 0 && isUnknown(err) {
		return &againError{err}
	}
	return err
}

// settled checks whether one of the tries whose reply was lost has its row in the chain. A row
// number belongs to one row only, so if another row has it, the try is no longer in doubt.
func (c *command) settled(ctx context.Context, stream int32, tail int64) (done Change, found bool, err error) {
	var open []sent
	for _, s := range c.sent {
		var token wire.UUID
		var kind, writer byte
		var written time.Time
		found := false
		if s.seq <= tail {
			found, err = one(ctx, c.db, []any{&token, &kind, &written, &writer}, ledger.RowSQL, stream, s.seq)
		}
		switch {
		case err != nil:
			return Change{}, false, c.read(err)
		case !found:
			open = append(open, s)
		case token == s.token:
			return s.done, true, nil
		}
	}
	c.sent = open
	return Change{}, false, nil
}

// errTaken means that another row was written first.
var errTaken = errors.New("another process wrote the row first")

// write writes a row with do, which returns the number of rows written: one, unless the row number
// is taken.
func (c *command) write(ctx context.Context, row sent, do func(conn *pgconn.PgConn) (int64, error)) (Change, error) {
	if c.dry {
		return row.done, nil
	}
	row.done.Appended = true
	sentIt, err := transact(ctx, c.db, func(conn *pgconn.PgConn) error {
		rows, err := do(conn)
		if err == nil && rows != 1 {
			err = errTaken
		}
		return err
	})
	switch {
	case err == nil:
		return row.done, nil
	case !sentIt:
		return row.done, c.read(Explain(err))
	case errors.Is(err, errTaken), isMoved(err), isLockTimeout(err):
		return row.done, &againError{err}
	case isUnknown(err):
		c.sent = append(c.sent, row)
		return row.done, &againError{err}
	}
	return row.done, Explain(err)
}

// exec runs a statement and returns how many rows it wrote. Parameters are in binary, as a worker
// sends them, and nothing is prepared by name, so it works through a connection pooler as well.
func exec(ctx context.Context, conn *pgconn.PgConn, sql string, params ...[]byte) (int64, error) {
	formats := slices.Repeat([]int16{pgx.BinaryFormatCode}, len(params))
	r := conn.ExecParams(ctx, sql, params, nil, formats, nil).Read()
	return r.CommandTag.RowsAffected(), r.Err
}

const settingsSQL = `SELECT set_config('lock_timeout', '5s', true), set_config('statement_timeout', '60s', true), set_config('synchronous_commit', 'on', true)`

// transact runs do in a transaction with its own settings, because the connection belongs to the
// caller. It reports whether anything may have been sent.
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

// isUnknown reports whether the outcome of a transaction is unknown: there was no reply, or the
// reply says so.
func isUnknown(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return !errors.Is(err, pgx.ErrTxCommitRollback)
	}
	return pg.Code == "40003" || pg.Code[:2] == "08" || pg.Code[:3] == "57P"
}

// isMoved reports whether the tail is no longer the last row, the stream has been created
// meanwhile, or the number of a new stream is in use.
func isMoved(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "23505" && (pg.ConstraintName == "idem_ledger_pkey" || pg.ConstraintName == "idem_stream_identity") ||
		pg.Code == "23502" && pg.TableName == "idem_ledger" && (pg.ColumnName == "prev" || pg.ColumnName == "seq"))
}

func isLockTimeout(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "55P03"
}
