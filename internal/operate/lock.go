package operate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Lock is a lock for which statements wait, or that keeps them from a table.
type Lock struct {
	On       string    `json:"on"` // what is locked
	Sessions []Session `json:"sessions"`
}

// Session is a session that holds a lock, or waits before others for it. What this role may not
// see of it is empty.
type Session struct {
	PID         int32     `json:"pid"`
	Application string    `json:"application"`
	User        string    `json:"user"`
	State       string    `json:"state"`
	Since       time.Time `json:"since"` // when its transaction began
	Waits       bool      `json:"waits"` // it holds up others only because it waits itself
}

func (s Session) String() string {
	text := fmt.Sprintf("pid %d", s.PID)
	for _, more := range []string{s.Application, s.User, s.State} {
		if more != "" {
			text += ", " + more
		}
	}
	if !s.Since.IsZero() {
		text += ", since " + s.Since.Format(time.RFC3339)
	}
	return text
}

// String names the sessions that hold the lock, and those that wait for it ahead of others.
func (l *Lock) String() string {
	texts := []string{}
	for _, s := range l.Sessions {
		if s.Waits {
			texts = append(texts, s.String()+" waits for it before others")
			continue
		}
		texts = append(texts, "held by "+s.String())
	}
	return l.On + ": " + strings.Join(texts, "; ")
}

// Ends are the statements that end the sessions, first those that hold the lock.
func (l *Lock) Ends() (all []Exit) {
	for _, s := range l.Sessions {
		e := Exit{
			Command: fmt.Sprintf("SELECT pg_terminate_backend(%d); -- as a superuser, or a member of pg_signal_backend or of the session's role", s.PID),
			Costs:   "the transaction of that session is rolled back",
		}
		if s.Waits {
			e.Other, e.Costs = true, "that session should stop waiting, and those behind it continue"
		}
		all = append(all, e)
	}
	return all
}

func (l *Lock) Error() string {
	return "a statement waits for a lock on " + l.String()
}

const (
	// chainSQL selects the sessions that block others, those that block them, and so on. A session
	// may block others only because it waits before them: who holds the lock comes first. Sessions
	// of services that wait themselves are left out. It follows a relation blocks of what is
	// locked and who locks it.
	chainSQL = `, chain (on_what, pid) AS (
    SELECT on_what, pid FROM blocks
    UNION SELECT c.on_what, b.pid FROM chain c CROSS JOIN LATERAL unnest(pg_blocking_pids(c.pid)) b (pid)
), seen AS (SELECT on_what, pid, cardinality(pg_blocking_pids(pid)) > 0 AS waits FROM chain)
SELECT s.on_what, s.pid, coalesce(a.application_name, ''), coalesce(a.usename, '')::text, coalesce(a.state, ''), a.xact_start, s.waits
FROM seen s LEFT JOIN pg_stat_activity a ON a.pid = s.pid
WHERE NOT (s.waits AND coalesce(a.application_name, '') LIKE 'idemgen%')
ORDER BY 1, s.waits, a.xact_start, s.pid LIMIT 100`

	// lockSQL selects the sessions that block one, with what it waits for.
	lockSQL = `WITH RECURSIVE blocks AS (
    SELECT coalesce('table ' || l.relation::regclass::text, l.locktype) AS on_what, b.pid
    FROM pg_locks l CROSS JOIN LATERAL unnest(pg_blocking_pids(l.pid)) b (pid) WHERE l.pid = $1 AND NOT l.granted)` + chainSQL

	// locksSQL selects the sessions that block those of services and, because a service that gives
	// up its wait is not always seen to wait, those that hold a table of this schema against
	// writers for more than a moment.
	locksSQL = `WITH RECURSIVE blocks AS (
    SELECT coalesce('table ' || l.relation::regclass::text, l.locktype) AS on_what, b.pid
    FROM pg_locks l JOIN pg_stat_activity w ON w.pid = l.pid CROSS JOIN LATERAL unnest(pg_blocking_pids(l.pid)) b (pid)
    WHERE NOT l.granted AND w.application_name LIKE 'idemgen%' AND w.datname = current_database()
    UNION
    SELECT 'table ' || l.relation::regclass::text, l.pid
    FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p') AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'idem_stream'::regclass)
    LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'relation' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') AND l.pid <> pg_backend_pid()
      AND (a.xact_start IS NULL OR a.xact_start < clock_timestamp() - interval '2 seconds'))` + chainSQL
)

// LockOf returns the lock that a session waits for, or nil if it waits for none that this role may
// see. search_path should be pg_catalog, because it is not certain what other schemas contain.
func LockOf(ctx context.Context, db DB, pid uint32) (*Lock, error) {
	all, err := locks(ctx, db, lockSQL, int64(pid))
	if len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// Locks returns the locks that hold up statements in this database, or may.
func Locks(ctx context.Context, db DB) ([]Lock, error) { return locks(ctx, db, locksSQL) }

// locks reads sessions that are sorted by what they lock.
func locks(ctx context.Context, db DB, sql string, args ...any) (all []Lock, err error) {
	_, err = query(ctx, db, func(row pgx.CollectableRow) (s Session, err error) {
		var on string
		var since *time.Time
		if err = row.Scan(&on, &s.PID, &s.Application, &s.User, &s.State, &since, &s.Waits); err != nil {
			return s, err
		}
		if since != nil {
			s.Since = since.UTC()
		}
		if n := len(all); n == 0 || all[n-1].On != on {
			all = append(all, Lock{On: on})
		}
		last := &all[len(all)-1]
		last.Sessions = append(last.Sessions, s)
		return s, nil
	}, sql, args...)
	return all, err
}
