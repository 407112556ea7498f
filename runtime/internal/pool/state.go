package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// State is what the runtime knows about one of its connections.
type State struct {
	Failed *pgconn.PgError // the last error that the server reported
	By     error           // why the context of the statement that failed had ended; nil if it had not
	Ended  bool            // a handler of the current transaction tried to commit it
	Kept   bool            // a handler that is still running uses it: no other code may

	canceled atomic.Pointer[error] // why the context of the running statement has ended
}

const stateKey = "idemgen"

// StateOf returns the state of a connection.
func StateOf(conn *pgconn.PgConn) *State {
	s, ok := conn.CustomData()[stateKey].(*State)
	if !ok {
		s = &State{}
		conn.CustomData()[stateKey] = s
	}
	return s
}

// noteErrors makes connections keep the last error of a statement, however a handler ran it, and
// whether or not the handler returns the error: a transaction that failed cannot commit. It does
// not keep the error that only says that the transaction is aborted.
func noteErrors(cfg *pgx.ConnConfig) {
	before := cfg.OnPgError
	cfg.OnPgError = func(conn *pgconn.PgConn, pg *pgconn.PgError) bool {
		if s := StateOf(conn); pg.Code != "25P02" || s.Failed == nil {
			s.Failed, s.By = pg, nil
			if why := s.canceled.Load(); why != nil {
				s.By = *why
			}
		}
		if verdict.CommitRefused(pg) {
			StateOf(conn).Ended = true
		}
		return before == nil || before(conn, pg)
	}
}

// cancelPatience is how long a statement may take to end after the server was requested to cancel
// it. After that the connection is closed.
const cancelPatience = 5 * time.Second

// endOnServer makes the server cancel a statement whose context ends, and waits for the reply, so
// that the statement is no longer running at the next attempt. The driver's default is to close
// the connection and leave the statement running.
func endOnServer(conn *pgconn.PgConn) ctxwatch.Handler {
	return &watcher{pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelPatience}, StateOf(conn)}
}

// watcher also notes why the context has ended, while its statement runs.
type watcher struct {
	pgconn.CancelRequestContextWatcherHandler
	of *State
}

func (w *watcher) HandleCancel(ctx context.Context) {
	why := ctx.Err()
	w.of.canceled.Store(&why)
	w.CancelRequestContextWatcherHandler.HandleCancel(ctx)
}

func (w *watcher) HandleUnwatchAfterCancel() {
	w.CancelRequestContextWatcherHandler.HandleUnwatchAfterCancel()
	w.of.canceled.Store(nil)
}

var (
	discardTemp = session.NewStatement("discard_temp", `DISCARD TEMP`)
	unlock      = session.NewStatement("unlock", `SELECT pg_advisory_unlock_all()`)
	unlisten    = session.NewStatement("unlisten", `UNLISTEN *`)
	closeAll    = session.NewStatement("close", `CLOSE ALL`)
)

// restoring returns the statements that restore a session.
var restoring = []session.Statement{session.Reset, session.Give, session.Intact, discardTemp, unlock, unlisten, closeAll}

// Settings returns the statements that restore the settings of the session.
func Settings(s *session.Session) []pipeline.Statement {
	return []pipeline.Statement{{Is: session.Reset}, {Is: session.Give, Args: s.Given()}}
}

// Intact returns a statement that fails if settings were changed and not restored.
func Intact(s *session.Session) pipeline.Statement {
	return pipeline.Statement{Is: session.Intact, Args: s.Kept()}
}

// Restore returns the statements that undo changes of a handler to the session that would change
// the meaning of later statements: settings, the role, temporary tables.
func Restore(s *session.Session) []pipeline.Statement {
	return append(Settings(s), pipeline.Statement{Is: discardTemp})
}

// RestoreAll also undoes changes that outlive a transaction. It is for a connection that is
// returned to the pool.
func RestoreAll(s *session.Session) []pipeline.Statement {
	return append(Restore(s), pipeline.Statement{Is: unlock}, pipeline.Statement{Is: unlisten}, pipeline.Statement{Is: closeAll})
}

// Abandon ends a failed transaction: with ROLLBACK if the connection is usable, otherwise by
// closing it. The deadline of the transaction may have passed; the time for its end begins now.
func Abandon(ctx context.Context, conn *pgx.Conn) {
	if StateOf(conn.PgConn()).Kept {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelPatience)
	defer cancel()
	if !conn.IsClosed() && !conn.PgConn().IsBusy() {
		p := pipeline.New(ctx, conn)
		p.End("ROLLBACK")
		if _, err, unclean := p.RunThen(RestoreAll(session.Of(conn.PgConn()))...); err == nil && unclean == nil {
			return
		}
	}
	_ = conn.Close(ctx) // it is no longer usable, whatever Close returns
}

// Acquire returns a connection. The error is an [outage.Unreachable] or [verdict.ErrUnreplicated].
// A long wait keeps its place in the queue, and its reason is passed to tell.
func (p *Pool) Acquire(ctx context.Context, tell func(error)) (*pgxpool.Conn, error) {
	pool, err := p.Open(ctx)
	if err != nil {
		return nil, &outage.Unreachable{Err: err}
	}
	told := make(chan struct{})
	t := time.AfterFunc(waitForFree, func() {
		defer close(told)
		if err := full(pool); err != nil {
			tell(&outage.Unreachable{Err: err})
		}
	})
	conn, err := pool.Acquire(ctx)
	if !t.Stop() {
		<-told // this report must come before the next one
	}
	if err == nil {
		if err = p.durability.confirm(ctx, conn.Conn()); err == nil {
			return conn, nil
		}
		conn.Release()
		return nil, err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = cmp.Or(full(pool), err)
	}
	return nil, &outage.Unreachable{Err: err}
}

// waitForFree is how long a partition waits for a connection before that is reported: a wait for
// the transaction of another partition is normal.
const waitForFree = 2 * time.Second

// full returns the reason if all connections are in use.
func full(pool *pgxpool.Pool) error {
	s := pool.Stat()
	if s.AcquiredConns() < s.MaxConns() {
		return nil
	}
	return fmt.Errorf("it waits for a connection: all %d of this process are in use: %w", s.MaxConns(), errFull)
}

var errFull = errors.New("raise pool_max_conns, or assign fewer partitions to a process")

// Ping acquires a connection as a batch does, and releases it.
func (p *Pool) Ping(ctx context.Context) error {
	conn, err := p.Acquire(ctx, func(error) {})
	if err != nil {
		return err
	}
	defer conn.Release()
	return conn.Ping(ctx)
}

// Release releases a connection, unless a handler that is still running uses it. Such a connection
// is closed already; even checking whether it is closed would race with the handler.
func Release(conn *pgxpool.Conn) {
	if StateOf(conn.Conn().PgConn()).Kept {
		conn.Hijack()
		return
	}
	conn.Release()
}
