//go:build !linux

package pool

import "github.com/jackc/pgx/v5/pgconn"

// wrapDial does nothing: TCP_USER_TIMEOUT is Linux only; elsewhere tcp keepalive finds
// half-open connections.
func wrapDial(*pgconn.Config) {}
