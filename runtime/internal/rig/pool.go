package rig

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Gate is a network path to the database that can be shut, and that counts round trips.
type Gate struct {
	Shut  atomic.Bool
	Trips atomic.Int64
}

type gatedConn struct {
	net.Conn
	gate *Gate
	sent atomic.Bool // since the last answer
}

func (c *gatedConn) Write(b []byte) (int, error) {
	c.sent.Store(true)
	return c.Conn.Write(b)
}

func (c *gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.sent.Swap(false) {
		c.gate.Trips.Add(1)
	}
	return n, err
}

// Through returns a pool whose connections go through a gate.
func Through(t *testing.T, db *pgxpool.Pool, g *Gate) *pgxpool.Pool {
	t.Helper()
	cfg := db.Config()
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if g.Shut.Load() {
			return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
		}
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &gatedConn{Conn: conn, gate: g}, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}
