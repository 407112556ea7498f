package pool

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// durability tracks whether everything that this process may have committed would survive a
// failover. A commit that stopped waiting for its synchronous standby might not, and neither might
// one whose reply was lost. Commits are confirmed in the order of the server's log: once one
// commit is confirmed, all earlier ones are.
type durability struct {
	mu        sync.Mutex
	doubts    int64 // commits that may not be confirmed
	confirmed int64 // number of them that are confirmed, from the first on
	asking    *confirmation
}

// confirmation is one commit that waits for the standby, on behalf of all callers that need it.
type confirmation struct {
	done    chan struct{}
	err     error
	givenUp bool // its asker's context ended
}

// confirmPatience is how long one commit waits for its standby.
const confirmPatience = 5 * time.Second

// Doubt records that a transaction may have committed without the confirmation of a synchronous
// standby. Acquire returns no connection until a later commit is confirmed.
func (p *Pool) Doubt() {
	d := &p.durability
	d.mu.Lock()
	defer d.mu.Unlock()
	d.doubts++
}

// confirm returns nil when all commits are confirmed, if necessary after one more commit on conn.
// It returns [verdict.ErrUnreplicated] if the standby does not confirm that commit.
func (d *durability) confirm(ctx context.Context, conn *pgx.Conn) error {
	for {
		d.mu.Lock()
		doubts, asking := d.doubts, d.asking
		if doubts == d.confirmed {
			d.mu.Unlock()
			return nil
		}
		if asking == nil {
			d.asking = &confirmation{done: make(chan struct{})}
		}
		own := d.asking
		d.mu.Unlock()
		if asking == nil {
			own.err = confirm(ctx, conn)
			own.givenUp = ctx.Err() != nil
			d.mu.Lock()
			if d.asking = nil; own.err == nil {
				d.confirmed = max(d.confirmed, doubts)
			}
			d.mu.Unlock()
			close(own.done)
		}
		<-own.done // within confirmPatience and cancelPatience
		switch {
		case own.err == nil:
		case asking != nil && own.givenUp && ctx.Err() == nil: // only its asker was
		default:
			return own.err
		}
	}
}

// confirmSQL only writes to the server's log: a commit without that would not wait for a standby.
const confirmSQL = `SELECT pg_catalog.pg_logical_emit_message(true, 'idemgen', '')`

func confirm(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, confirmPatience)
	defer cancel()
	_, err := conn.Exec(ctx, confirmSQL)
	if err == nil && session.Unreplicated(conn.PgConn()) {
		err = verdict.ErrUnreplicated
	}
	return err
}
