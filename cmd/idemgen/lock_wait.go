package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/doctor"
)

// lockPatience is how long a statement may run until it is asked whether it waits for a lock.
const lockPatience = 2 * time.Second

// lockWatch finds out why a statement of a command does not end: another session may have locked a
// table. It asks on a connection of its own.
type lockWatch struct {
	config *pgx.ConnConfig
	// found takes what a statement waits for. If it returns true, the statement is given up.
	found func(*doctor.LockWait) (giveUp bool)
}

type watchKey struct{}

// TraceQueryStart begins to watch a statement.
func (w *lockWatch) TraceQueryStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	pid := conn.PgConn().PID()
	timer := time.AfterFunc(lockPatience, func() {
		if found := w.ask(ctx, pid); found != nil && w.found(found) {
			cancel()
		}
	})
	return context.WithValue(ctx, watchKey{}, sync.OnceFunc(func() { timer.Stop(); cancel() }))
}

// TraceQueryEnd ends it.
func (w *lockWatch) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if end, is := ctx.Value(watchKey{}).(func()); is {
		end()
	}
}

// lockWaitSQL is what a session waits for, and the sessions that are in its way.
const lockWaitSQL = `SELECT coalesce('table ' || l.relation::regclass::text, l.locktype),
	'pid ' || b.pid, a.application_name, a.usename, a.state, 'since ' || to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM pg_locks l CROSS JOIN LATERAL unnest(pg_blocking_pids(l.pid)) b (pid) LEFT JOIN pg_stat_activity a ON a.pid = b.pid
WHERE l.pid = $1 AND NOT l.granted ORDER BY a.xact_start`

// ask asks what a session waits for; nil is nothing, or nothing that this role may see.
func (w *lockWatch) ask(ctx context.Context, pid uint32) *doctor.LockWait {
	config := w.config.Copy()
	config.Tracer = nil
	config.RuntimeParams["search_path"] = "pg_catalog, pg_temp"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, _ := conn.Query(ctx, lockWaitSQL, pid)
	var found *doctor.LockWait
	for rows.Next() {
		var on string
		var words [5]*string
		if err := rows.Scan(&on, &words[0], &words[1], &words[2], &words[3], &words[4]); err != nil {
			rows.Close()
			return nil
		}
		if found == nil {
			found = &doctor.LockWait{On: on}
		}
		var known []string
		for _, word := range words {
			if word != nil && *word != "" {
				known = append(known, *word)
			}
		}
		found.Sessions = append(found.Sessions, strings.Join(known, ", "))
	}
	return found
}

// sayLockWait says what a command waits for, and lets it wait.
func sayLockWait(to io.Writer) func(*doctor.LockWait) bool {
	return func(w *doctor.LockWait) bool {
		fmt.Fprintln(to, w)
		return false
	}
}
