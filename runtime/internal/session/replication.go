package session

import (
	"github.com/jackc/pgx/v5/pgconn"
)

// unreplicatedKey marks a connection on which a commit was not confirmed.
const unreplicatedKey = "idemgen: not replicated"

// WatchReplication calls lost, and marks the connection, if the server stops waiting for a
// synchronous standby: it has then committed, and only warns that the standby may not have the
// commit.
func WatchReplication(cfg *pgconn.Config, lost func()) {
	before := cfg.OnNotice
	cfg.OnNotice = func(conn *pgconn.PgConn, n *pgconn.Notice) {
		if n.Routine == "SyncRepWaitForLSN" { // its text is in the server's language
			conn.CustomData()[unreplicatedKey] = true
			lost()
		}
		if before != nil {
			before(conn, n)
		}
	}
}

// Unreplicated reports, once, whether a commit on the connection was not confirmed.
func Unreplicated(conn *pgconn.PgConn) bool {
	_, is := conn.CustomData()[unreplicatedKey]
	delete(conn.CustomData(), unreplicatedKey)
	return is
}
