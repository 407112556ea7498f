package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// tenure is a lead: its lock is the session's.
type tenure struct {
	conn  *pgx.Conn
	pid   int32     // of the session
	role  string    // of its statements
	since time.Time // the session was alive
}

// longPause is how long a relay that cannot lead waits at most until it tries again. It tries soon
// if it led for longer.
const longPause = 30 * time.Second

// serve leads, or waits to lead, until the context ends. It returns an error if sessions do not
// work from the start.
func (r *runner) serve(ctx context.Context) error {
	for pause := r.pace.poll; ; {
		began := time.Now()
		err := r.term(ctx)
		if _, pooler := errors.AsType[*session.Error](err); pooler && !r.tested {
			return fmt.Errorf("outbox: %w", err)
		}
		if ctx.Err() != nil {
			return nil
		}
		if pause = min(2*pause, longPause); time.Since(began) > longPause {
			pause = r.pace.poll
		}
		err = fmt.Errorf("events: %w", err)
		r.log().Error("outbox: the relay does not lead", append([]any{"err", err, "next", pause}, stack(err)...)...)
		r.tell(aboutDatabase, err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// term waits to lead, and leads until it cannot. It returns nil only if the context ended.
func (r *runner) term(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked("the relay", p)
		}
	}()
	if err := r.testSessions(ctx); err != nil {
		return err
	}
	conn, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer closeSoon(ctx, conn)
	if _, err := conn.Exec(ctx, nameSQL); err != nil {
		return err
	}
	t, err := r.await(ctx, conn)
	defer func() { err = outage.NameRight(err, t.role, proofSQL) }() // which needs all rights of the relay
	if err != nil {
		return err
	}
	r.tell(aboutDatabase, nil)
	r.log().Info("outbox: the relay leads")
	defer func() {
		for _, about := range []string{aboutBroker, aboutRefused, aboutUnanswered, aboutDelete, aboutWaiting} {
			r.tell(about, nil)
		}
	}()
	r.tell(aboutLeader, nil)
	r.count(func(n *numbers) { n.Leading = true })
	defer r.count(func(n *numbers) { n.retire() })
	return newLead(r, t).run(ctx)
}

// connect takes a connection out of the pool: its session has settings and a lock of its own. It
// returns an error if somebody planted functions or operators for the relay's statements.
func (r *runner) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := r.asking(ctx)
	defer cancel()
	pooled, err := r.DB.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("no connection of the pool: %w", err)
	}
	conn := pooled.Hijack()
	planted, err := pgtable.Planted(ctx, conn)
	if err == nil && planted != nil {
		err = planted.Err()
	}
	if err != nil {
		closeSoon(ctx, conn)
		return nil, err
	}
	return conn, nil
}

func closeSoon(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// testFor is how long testing the sessions may take.
const testFor = 30 * time.Second

// testSessions returns an error if a connection pooler passes sessions from one client to another:
// a lead would then belong to no relay. It takes no lock, which would stay in the pooler.
func (r *runner) testSessions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, testFor)
	defer cancel()
	var conns [2]*pgx.Conn
	for i := range conns {
		conn, err := r.connect(ctx)
		if err != nil {
			return err
		}
		defer closeSoon(ctx, conn)
		if err := session.Open(ctx, conn, session.Options{}); err != nil {
			return err
		}
		conns[i] = conn
	}
	err := session.Probe(ctx, conns[0], conns[1])
	if err == nil {
		r.tested = true
	}
	return err
}

// verify returns an error if the session is not the one that has the lead: a pooler went over to
// another mode.
func (t *tenure) verify(ctx context.Context) error {
	var pid int32
	if err := t.conn.QueryRow(ctx, `SELECT pg_catalog.pg_backend_pid()`).Scan(&pid); err != nil {
		return err
	}
	if pid != t.pid {
		return &session.Error{Reason: session.Transaction}
	}
	return nil
}

// confirmSQL writes to the server's log, and nothing else, and waits as a commit does, where
// commits wait for a standby, or the end of the log is not on disk.
const confirmSQL = `SELECT pg_catalog.set_config('synchronous_commit', 'on', true), pg_catalog.pg_logical_emit_message(true, 'idemgen', '')
WHERE pg_catalog.current_setting('synchronous_standby_names') <> '' OR pg_catalog.pg_current_wal_flush_lsn() < pg_catalog.pg_current_wal_insert_lsn()`

// confirm waits until all that was read is on disk and, if there is a synchronous standby, there,
// too. A row is visible before that if its transaction has synchronous_commit = off, or if the
// wait of its commit was cancelled.
func (t *tenure) confirm(ctx context.Context) error {
	if _, err := t.conn.Exec(ctx, confirmSQL); err != nil {
		return fmt.Errorf("wait until what is read is durable, here and on a synchronous standby: %w", err)
	}
	return nil
}

// await asks for the lead until it has it.
func (r *runner) await(ctx context.Context, conn *pgx.Conn) (tenure, error) {
	for looked := time.Now(); ; {
		t := tenure{conn: conn, since: time.Now()}
		if led, err := r.elected(ctx, &t); led || err != nil {
			return t, err
		}
		if t.since.Sub(looked) > r.pace.silence/2 {
			looked = t.since
			if err := r.endSilent(ctx, conn); err != nil {
				return t, err
			}
		}
		if err := r.follow(ctx, conn); err != nil {
			return t, err
		}
		r.tell(aboutDatabase, nil)
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-time.After(r.pace.poll):
		}
	}
}

// leaderSQL is the session that has the lead. What a role may not see is NULL.
const leaderSQL = ` AS lead (key)
JOIN pg_locks l ON l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.classid::bigint << 32 | l.objid::bigint = lead.key
    AND l.database = (SELECT oid FROM pg_database WHERE datname = pg_catalog.current_database())
JOIN pg_stat_activity a USING (pid),
    pg_catalog.concat_ws(', ', nullif(a.application_name, ''), pg_catalog.host(a.client_addr) || ':' || a.client_port::text, 'pid ' || a.pid::text || ' of Postgres',
    'since ' || pg_catalog.to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) AS name`

// endSilent ends the session of a leader that has asked nothing for so long that it sends nothing
// more before it asks again. No time limit of Postgres ends a session that waits for its client to
// read: the process of the leader is stopped, and notifications have filled its socket.
func (r *runner) endSilent(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := r.asking(ctx)
	defer cancel()
	sql := fmt.Sprintf(`SELECT name, pg_catalog.pg_terminate_backend(a.pid) FROM (SELECT %s)%s WHERE a.state_change < pg_catalog.clock_timestamp() - interval '%d ms'`,
		eventsKey, leaderSQL, r.pace.silence.Milliseconds())
	var name string
	var ended bool
	switch err := conn.QueryRow(ctx, sql).Scan(&name, &ended); {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return fmt.Errorf("end the session of a relay that leads and is silent: %w", err)
	default:
		r.log().Warn("outbox: the relay that led was silent, and its session was ended", "session", name, "silent", r.pace.silence)
	}
	return nil
}

// nameSQL names a session in pg_stat_activity, unless its pool does.
const nameSQL = `SELECT pg_catalog.set_config('application_name', 'idemgen outbox', false) WHERE pg_catalog.current_setting('application_name') = ''`

// eventsKey is the advisory lock of the session that leads.
const eventsKey = `20041965::bigint << 32 | 'idem_outbox'::regclass::oid::bigint`

// proofSQL fails where the session may not delete from the table what it sends: that would be sent
// again and again.
const proofSQL = `WITH free AS (SELECT seq FROM idem_outbox WHERE false FOR UPDATE) DELETE FROM idem_outbox USING free WHERE idem_outbox.seq = free.seq`

// elected asks for the lead.
func (r *runner) elected(ctx context.Context, t *tenure) (got bool, err error) {
	ctx, cancel := r.asking(ctx)
	defer cancel()
	if err := t.conn.QueryRow(ctx, `SELECT pg_catalog.pg_try_advisory_lock(`+eventsKey+`), pg_catalog.pg_backend_pid(), current_user`).Scan(&got, &t.pid, &t.role); err != nil || !got {
		return false, explained(err)
	}
	for _, sql := range []string{
		fmt.Sprintf(`SET idle_session_timeout = %d`, r.pace.silence.Milliseconds()), `LISTEN idem_outbox`, proofSQL,
	} {
		if _, err := t.conn.Exec(ctx, sql); err != nil {
			return false, explained(err)
		}
	}
	return true, nil
}

// asking bounds a statement of a leader: after so long a silence it does not lead any more.
func (r *runner) asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.pace.silence)
}
