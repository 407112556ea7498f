package pool

import (
	"context"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	tcpUserTimeout = 0x12 // TCP_USER_TIMEOUT of tcp(7)
	deadAfter      = 20_000
)

// wrapDial makes the kernel close a connection 20 s after its peer has stopped responding, so that
// a half-open connection becomes an error, and the partition does not wait forever.
func wrapDial(cfg *pgconn.Config) {
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if t, ok := conn.(*net.TCPConn); ok && err == nil {
			if raw, err := t.SyscallConn(); err == nil {
				// Best effort: without it, TCP keepalive detects the failure later.
				_ = raw.Control(func(fd uintptr) {
					_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, deadAfter)
				})
			}
		}
		return conn, err
	}
}
