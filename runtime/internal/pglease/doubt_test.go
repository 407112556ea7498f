package pglease_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// losing is a connection that can lose the reply to a request.
type losing struct {
	net.Conn
	lose      *atomic.Bool
	confirmed *atomic.Int32 // confirmations of commits
}

func (c losing) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "pg_logical_emit_message") {
		c.confirmed.Add(1)
	}
	return c.Conn.Write(b)
}

func (c losing) Read(b []byte) (int, error) {
	if c.lose.CompareAndSwap(true, false) {
		_ = c.Conn.Close()
		return 0, errors.New("the reply is lost")
	}
	return c.Conn.Read(b)
}

// TestLostReplyIsInDoubt: after a lease's transaction whose reply was lost, the pool confirms that
// what may have been committed survives a failover before it gives away a connection.
func TestLostReplyIsInDoubt(t *testing.T) {
	t.Parallel()
	db := idemtest.DB(t)
	tables(t, db)
	var lose atomic.Bool
	var confirmed atomic.Int32
	cfg := db.Config()
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		return losing{c, &lose, &confirmed}, err
	}
	over, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(over.Close)
	s := store(t, over)
	acquire := func(key byte) error {
		_, err := s.Acquire(t.Context(), "test", []lease.Ask{{Key: wire.Key{key}, Owner: wire.UUID{key}, Term: time.Minute, Keep: time.Hour}})
		return err
	}
	if err := acquire(1); err != nil || confirmed.Load() != 0 {
		t.Fatalf("an ordinary lease: %v, %d confirmations", err, confirmed.Load())
	}
	lose.Store(true)
	if err := acquire(2); err == nil {
		t.Fatal("the reply was not lost")
	}
	if err := acquire(3); err != nil || confirmed.Load() != 1 {
		t.Errorf("after a lost reply: %v, %d confirmations, want 1", err, confirmed.Load())
	}
}
