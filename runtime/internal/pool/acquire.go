package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/outage"
)

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
