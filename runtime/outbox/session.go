package outbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// limits are the times of the relay's statements.
var limits = wire.Limits{
	LockTimeout: 5 * time.Second, StatementTimeout: 30 * time.Second,
	EventTimeout: 5 * time.Second, BatchTimeout: time.Minute,
}

// quick is for questions that wait for nothing, and for what is done when the context has ended.
const quick = 5 * time.Second

// sessionOf is the connection that holds the lock, and the names of its statements.
type sessionOf struct {
	conn *pgx.Conn
	statements
}

// unusableError says why the relay cannot start; a person must act.
type unusableError struct{ text string }

func (e *unusableError) Error() string { return "outbox: " + e.text }

func (r *Relay) connect(ctx context.Context) (_ *sessionOf, err error) {
	conn, err := pool.New(r.db, &wire.Service{Limits: limits}, nil, nil).Alone(ctx, "idemgen relay")
	if err != nil {
		return nil, &outage.Unreachable{Err: err}
	}
	s := &sessionOf{conn: conn}
	if err := s.prepare(ctx, r.table); err != nil {
		s.close(ctx)
		return nil, inWords(err)
	}
	return s, nil
}

// prepare checks that the relay can work with the table, and prepares its statements.
func (s *sessionOf) prepare(ctx context.Context, table wire.Outbox) error {
	var missing, read, delete *bool
	const sql = `
SELECT oid IS NULL, has_table_privilege(oid, 'SELECT'), has_table_privilege(oid, 'DELETE')
FROM to_regclass($1) AS oid`
	if err := s.conn.QueryRow(ctx, sql, pgx.QueryExecModeExec, table.Table).Scan(&missing, &read, &delete); err != nil {
		return fmt.Errorf("outbox: look for table %s: %w", table.Table, err)
	}
	switch {
	case *missing:
		return &unusableError{fmt.Sprintf("there is no table %s in the search_path: are all migrations applied?", table.Table)}
	case !*read || !*delete:
		return &unusableError{fmt.Sprintf("the role may not send what is in %[1]s: GRANT SELECT, DELETE ON %[1]s TO it", table.Table)}
	}
	of := session.Of(s.conn.PgConn())
	for st, name := range s.of(table) {
		*name, _ = of.Bind(st, nil)
		if _, err := s.conn.Prepare(ctx, *name, st.SQL); err != nil {
			return fmt.Errorf("outbox: prepare the statement %s of %s (are all migrations applied?): %w", st.Label, table.Table, err)
		}
	}
	return nil
}

// relayLock and the table's oid are the advisory lock of the one that sends.
const relayLock = 0x1de3007

// awaitLock waits until nobody else sends what is in the table.
func (r *Relay) awaitLock(ctx context.Context, s *sessionOf) error {
	for told := false; ; told = true {
		var mine bool
		err := s.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1, $2::text::regclass::oid::integer)`, pgx.QueryExecModeExec, relayLock, r.table.Table).Scan(&mine)
		if err != nil {
			return inWords(fmt.Errorf("outbox: ask for the lock of %s: %w", r.table.Table, err))
		}
		if mine {
			return nil
		}
		r.status.condition.Set(r.log(), nil)
		if !told {
			r.log().Info("the relay stands by: another process sends")
		}
		if !backoff.Sleep(ctx, r.paces().standby) {
			return ctx.Err()
		}
	}
}

// alive asks the server for a sign of life, and whether a pooler has given the session away.
func (s *sessionOf) alive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), quick)
	defer cancel()
	if err := s.conn.Ping(ctx); err != nil {
		return inWords(err)
	}
	return session.Of(s.conn.PgConn()).Check(ctx, s.conn)
}

// watch returns nil when ctx ends, or an error as soon as the connection is lost.
func (s *sessionOf) watch(ctx context.Context, heartbeat time.Duration) error {
	for ctx.Err() == nil {
		short, cancel := context.WithTimeout(ctx, heartbeat)
		_, err := s.conn.WaitForNotification(short) // nobody notifies: it ends by its time, or with the connection
		cancel()
		if s.conn.IsClosed() {
			return inWords(err)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := s.alive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// close gives the lock back and closes the connection: the server notices a close only after a
// while, and until then nobody else could send.
func (s *sessionOf) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if !s.conn.IsClosed() {
		_, _ = s.conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`) // else it goes with the connection
	}
	_ = s.conn.Close(ctx)
}

// inWords is an error of the database without what a row holds.
func inWords(err error) error { return outage.InWords(verdict.Describe(err)) }

// columnsOf are the columns of the headers, behind a comma.
func columnsOf(table wire.Outbox) string {
	var b strings.Builder
	for _, h := range table.Headers {
		b.WriteString(", " + h.Column)
	}
	return b.String()
}
