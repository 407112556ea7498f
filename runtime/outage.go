package idem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pgerror"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// connectTimeout is how long a server may take to let one connection in, unless the service's
// pool says: without a limit, a server that does not answer at all would not show for long.
const connectTimeout = 5 * time.Second

// inWords is an error that is none of the database's in words, where it has some.
func inWords(err error) error {
	if _, known := errors.AsType[*outage.Unreachable](err); known {
		return err
	}
	return outage.InWords(err)
}

// acquire gets a connection of the runtime's own. The error is an outage.Unreachable. Who waits long
// keeps the place in the queue for a connection, and tells why.
func (c *Consumer) acquire(ctx context.Context, tell func(error)) (*pgxpool.Conn, error) {
	pool, err := c.pool(ctx)
	if err != nil {
		return nil, &outage.Unreachable{Err: err}
	}
	told := make(chan struct{})
	t := time.AfterFunc(waitForFree, func() {
		defer close(told)
		if err := poolFull(pool); err != nil {
			tell(&outage.Unreachable{Err: err})
		}
	})
	conn, err := pool.Acquire(ctx)
	if !t.Stop() {
		<-told // what is told now must not stand behind what comes
	}
	if err == nil {
		return conn, nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = cmp.Or(poolFull(pool), err)
	}
	return nil, &outage.Unreachable{Err: err}
}

// waitForFree is how long a partition waits for a connection before it says so: a wait for
// the transaction of another partition is no news.
const waitForFree = 2 * time.Second

// poolFull is why no connection can be had, if all are in use.
func poolFull(pool *pgxpool.Pool) error {
	s := pool.Stat()
	if s.AcquiredConns() < s.MaxConns() {
		return nil
	}
	return fmt.Errorf("it waits for a connection, all %d of this process are in use: %w", s.MaxConns(), errPoolFull)
}

var errPoolFull = errors.New("raise pool_max_conns, or assign fewer partitions to a process")

// acquire is the same for a partition that is taken over. If the database is away and the
// Source asks again, it waits for the database as long as ctx lasts.
func (o *owner) acquire(ctx context.Context, wait bool) (*pgxpool.Conn, error) {
	for try := 1; ; try++ {
		tell := func(err error) { o.w.tell(o, err) }
		conn, err := o.c.acquire(ctx, tell)
		if err == nil || !wait || !away(err) {
			return conn, err
		}
		if tell(err); !sleep(ctx, backoff(try, waitInitial, waitMost)) || o.c.prober.Wait(ctx, tell) != nil {
			return nil, err
		}
	}
}

// tellWait says why a transaction cannot begin.
func (o *owner) tellWait(err error) { o.w.tell(o, &waitError{err: err}) }

// away reports whether err is one that ends when the database can be connected to.
func away(err error) bool {
	if _, ok := errors.AsType[*outage.Unreachable](err); ok {
		return pgerror.Of(err).Event() != protocol.Fatal
	}
	switch pgerror.Of(err) {
	case pgerror.Doubt, pgerror.ReadOnly, pgerror.Unsent:
		return true
	}
	return false
}

// probe connects as a batch does, and gives the connection back.
func (c *Consumer) probe(ctx context.Context) error {
	conn, err := c.acquire(ctx, func(error) {})
	if err != nil {
		return err
	}
	defer conn.Release()
	return conn.Ping(ctx)
}

// pause waits before the next try, and while the database is away until it is back. It
// reports false if the partition or the process ends.
func (c *Consumer) pause(ctx context.Context, o *owner, err error, try int) bool {
	wait := backoff(try, waitInitial, waitMost)
	if w, ok := errors.AsType[*waitError](err); ok && w.after > 0 {
		wait = w.after
	}
	c.stats.waits.Add(1)
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(o.quit, cancel)()
	return sleep(both, wait) && (!away(err) || c.prober.Wait(both, o.tellWait) == nil)
}
