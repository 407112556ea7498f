package idem

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// connectTimeout is how long a server may take to let one connection in, unless the service's
// pool says: without a limit, a server that does not answer at all would not show for long.
const connectTimeout = 5 * time.Second

// unreachable says that there is no connection to the database, and why, in words that are
// the same at the next try.
type unreachable struct{ err error }

func (e *unreachable) Error() string {
	words := outage.Words(e.err)
	if words == "" {
		words = e.err.Error()
	}
	return "no connection to the database: " + words
}

func (e *unreachable) Unwrap() error { return e.err }

// loginRefused reports whether the server did not let the service in. A password that is
// changed on one side first is an outage like any other: nothing was sent.
func loginRefused(err error) bool {
	_, own := errors.AsType[*unreachable](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return own && connecting && ok && (strings.HasPrefix(pg.Code, "28") || strings.HasPrefix(pg.Code, "3D"))
}

// inWords is an error that is none of the database's in words, where it has some.
func inWords(err error) error {
	if _, known := errors.AsType[*unreachable](err); known {
		return err
	}
	return outage.InWords(err)
}

// acquire gets a connection of the runtime's own. The error is an unreachable.
func (c *Consumer) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	pool, err := c.pool(ctx)
	if err != nil {
		return nil, &unreachable{err}
	}
	conn, err := pool.Acquire(ctx)
	if err == nil {
		return conn, nil
	}
	if s := pool.Stat(); errors.Is(err, context.DeadlineExceeded) && s.AcquiredConns() == s.MaxConns() {
		err = fmt.Errorf("all %d connections of this process are in use: %w", s.MaxConns(), errPoolFull)
	}
	return nil, &unreachable{err}
}

var errPoolFull = errors.New("raise pool_max_conns, or assign fewer partitions to a process")

// acquire is the same for a partition that is taken over. If the database is away and the
// Source asks again, it waits for the database as long as ctx lasts.
func (o *owner) acquire(ctx context.Context, wait bool) (*pgxpool.Conn, error) {
	for try := 1; ; try++ {
		conn, err := o.c.acquire(ctx)
		if err == nil || !wait || !away(err) {
			return conn, err
		}
		tell := func(err error) { o.w.tell(o, err) }
		if tell(err); !sleep(ctx, backoff(try, waitInitial, waitMost)) || o.c.prober.Wait(ctx, tell) != nil {
			return nil, err
		}
	}
}

// away reports whether err is one that ends when the database can be connected to.
func away(err error) bool {
	if _, ok := errors.AsType[*unreachable](err); ok {
		return classify(err).event() != protocol.Fatal
	}
	switch classify(err) {
	case classDoubt, classReadOnly, classUnsent:
		return true
	}
	return false
}

// probe connects as a batch does, and gives the connection back.
func (c *Consumer) probe(ctx context.Context) error {
	conn, err := c.acquire(ctx)
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
	tell := func(err error) { o.w.tell(o, &waitError{err: err}) }
	return sleep(both, wait) && (!away(err) || c.prober.Wait(both, tell) == nil)
}
