// Package session configures a new connection of the runtime: settings, a mark that identifies the
// server's session, and prepared statements. It reads the session back, and detects at the start
// whether a connection pooler gives sessions of one client to another. It must not import any
// other package of this module.
//
// The startup packet contains only client_encoding: poolers reject other parameters that they do
// not know, or drop them silently.
//
// Names of prepared statements are valid in one session only: another session replies with
// SQLSTATE 26000.
package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Session is the configured session of a connection.
type Session struct {
	mark   string            // its prefix is part of the names of its prepared statements
	pid    int32             // of the backend behind the connection
	pooled bool              // the server announced another backend: a pooler is in between
	relied map[string]string // the settings that must not change, as read back
	role   string            // of its statements
	given  [][]byte          // names and values of all settings of the session
	kept   [][]byte          // names and values of settings that no trigger or function may change
}

// key is the key under which a connection stores its session.
const key = "idemgen: session"

// Of returns the session that [Open] configured for a connection; nil if there is none.
func Of(conn *pgconn.PgConn) *Session {
	s, _ := conn.CustomData()[key].(*Session)
	return s
}

// Role returns the role that runs the statements of the session.
func (s *Session) Role() string {
	if s == nil {
		return ""
	}
	return s.role
}

// Options determine the configuration of a session.
type Options struct {
	Asked    map[string]string                      // start-up parameters of the connection string
	Hook     func(context.Context, *pgx.Conn) error // of the service's pool; may be nil
	Settings []Setting
}

// Configure makes the connection start with client_encoding UTF8, whatever the database's default
// is, so that RESET ALL also restores it. The connection must lead to a server that accepts
// writes.
func Configure(cfg *pgx.ConnConfig) {
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	cfg.ValidateConnect = writable
}

// writable rejects a read-only server, so that another address is tried. It does not override a
// default of the database: providers make a database read-only when its disk is full.
func writable(ctx context.Context, conn *pgconn.PgConn) error {
	r := conn.ExecParams(ctx, `SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('transaction_read_only')`, nil, nil, nil, nil).Read()
	switch {
	case r.Err != nil:
		return r.Err
	case string(r.Rows[0][0]) == "t":
		return pgconn.ErrReadOnlyConnection
	case string(r.Rows[0][1]) == "on":
		return errors.New("the database rejects writes: default_transaction_read_only is on, for the role, the database or the server; some providers set it when the disk is full")
	}
	return nil
}

// Open configures the session of a new connection, and reads it back.
func Open(ctx context.Context, conn *pgx.Conn, o Options) error {
	s := &Session{mark: rand.Text(), relied: map[string]string{}}
	if err := conn.QueryRow(ctx, `SELECT pg_catalog.pg_backend_pid()`, pgx.QueryExecModeExec).Scan(&s.pid); err != nil {
		return err
	}
	if s.pooled = uint32(s.pid) != conn.PgConn().PID(); s.pooled {
		if err := renew(ctx, conn, o.Asked); err != nil {
			return err
		}
	}
	if o.Hook != nil {
		if err := o.Hook(ctx, conn); err != nil {
			return err
		}
	}
	if err := s.give(ctx, conn, o.Settings); err != nil {
		return err
	}
	if err := s.readGiven(ctx, conn); err != nil {
		return err
	}
	if err := s.readKept(ctx, conn); err != nil {
		return err
	}
	conn.PgConn().CustomData()[key] = s
	return s.Verify(ctx, conn)
}

// renew undoes what another client may have left in a session, and sets the parameters of the
// connection string, which a pooler may have dropped.
func renew(ctx context.Context, conn *pgx.Conn, asked map[string]string) error {
	const sql = `RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; DISCARD TEMP; CLOSE ALL; UNLISTEN *; SELECT pg_catalog.pg_advisory_unlock_all()`
	if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		return fmt.Errorf("renew a session of the pooler: %w", err)
	}
	var names, values []string
	for name, value := range parameters(asked) {
		names, values = append(names, name), append(values, value)
	}
	const set = `
SELECT pg_catalog.count(pg_catalog.set_config(name, value, false))
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS s (name, value)
WHERE pg_catalog.current_setting(name, true) IS DISTINCT FROM value`
	if _, err := conn.Exec(ctx, set, pgx.QueryExecModeExec, names, values); err != nil {
		return fmt.Errorf("set the parameters of the connection string in a session of the pooler: %w", err)
	}
	return nil
}

// give sets the settings and the mark.
func (s *Session) give(ctx context.Context, conn *pgx.Conn, settings []Setting) error {
	var names, values []string
	var ifKnown, ifOther []bool
	var best []Setting
	for _, o := range settings {
		if o.how == wanted {
			best = append(best, o)
			continue
		}
		names, values = append(names, o.Name), append(values, o.Value)
		ifKnown, ifOther = append(ifKnown, o.how == known), append(ifOther, o.how == differs)
		if o.how == differs {
			s.relied[o.Name] = o.Value
		}
	}
	const sql = `
SELECT name, pg_catalog.set_config(name, value, false)
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::bool[]), pg_catalog.unnest($4::bool[]))
    AS s (name, value, if_known, if_other)
WHERE NOT (if_known AND pg_catalog.current_setting(name, true) IS NULL) AND NOT (if_other AND pg_catalog.current_setting(name, true) = value)`
	rows, err := conn.Query(ctx, sql, pgx.QueryExecModeExec, append(names, markSetting), append(values, s.mark), append(ifKnown, false), append(ifOther, false))
	if err != nil {
		return err
	}
	var name, value string
	if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error { s.relied[name] = value; return nil }); err != nil {
		return s.refused(err)
	}
	return giveBest(ctx, conn.PgConn(), best)
}

// refused returns the error for settings that the role may not change.
func (s *Session) refused(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "42501" {
		return &Error{Reason: "the role may not change a setting that the runtime relies on, but the database, the role or the server has another default for it; " +
			"reset that default (ALTER DATABASE ... RESET, ALTER ROLE ... RESET)", Err: err}
	}
	return fmt.Errorf("set the session's settings: %w", err)
}

// giveBest sets settings that not every server accepts, one by one.
func giveBest(ctx context.Context, conn *pgconn.PgConn, settings []Setting) error {
	p := conn.StartPipeline(ctx)
	for _, o := range settings {
		p.SendQueryParams(`SELECT pg_catalog.set_config($1, $2, false)`, [][]byte{[]byte(o.Name), []byte(o.Value)}, nil, nil, nil)
		p.SendPipelineSync()
	}
	err := p.Flush()
	for synced := 0; synced < len(settings) && err == nil; {
		res, failed := p.GetResults()
		switch r := res.(type) {
		case *pgconn.PipelineSync:
			synced++
		case *pgconn.ResultReader:
			_, failed = r.Close()
		}
		if _, refused := errors.AsType[*pgconn.PgError](failed); !refused || conn.IsClosed() {
			err = failed // the server may have ended the session
		}
	}
	return errors.Join(err, p.Close())
}

// readGivenSQL reads the settings of the session that were made when it was opened, by the
// runtime, by the service's hook or by a pooler; parameters of the startup packet survive RESET
// ALL. The view does not have the role and the mark. The role must be reset first.
const readGivenSQL = `
SELECT pg_catalog.array_agg(name ORDER BY n), pg_catalog.array_agg(value ORDER BY n), current_user
FROM (SELECT 1 AS n, 'session_authorization' AS name, pg_catalog.current_setting('session_authorization') AS value
      UNION ALL SELECT 2, 'role', pg_catalog.current_setting('role')
      UNION ALL SELECT 3, '` + markSetting + `', pg_catalog.current_setting('` + markSetting + `', true)
      UNION ALL SELECT 4, name, setting FROM pg_settings WHERE source = 'session') AS s`

// readGiven stores the settings and the role of the session.
func (s *Session) readGiven(ctx context.Context, conn *pgx.Conn) error {
	r := conn.PgConn().ExecParams(ctx, readGivenSQL, nil, nil, nil, []int16{pgx.BinaryFormatCode}).Read()
	if r.Err != nil {
		return fmt.Errorf("read the session's settings: %w", r.Err)
	}
	s.given, s.role = r.Rows[0][:2], string(r.Rows[0][2])
	return nil
}

// readKeptSQL reads the settings that decide what statements mean: those of the runtime, those
// that were given, and what names and times are resolved by. lock_timeout is changed around
// handlers.
const readKeptSQL = `
SELECT pg_catalog.array_agg(name ORDER BY name), pg_catalog.array_agg(pg_catalog.current_setting(name, true) ORDER BY name)
FROM (SELECT pg_catalog.unnest($1::text[]) AS name UNION SELECT pg_catalog.unnest($2::text[]) UNION VALUES ('search_path'), ('TimeZone'), ('role')) AS s
WHERE name <> 'lock_timeout' AND pg_catalog.current_setting(name, true) IS NOT NULL`

// readKept stores the settings that [Intact] compares.
func (s *Session) readKept(ctx context.Context, conn *pgx.Conn) error {
	names := []byte("{" + strings.Join(slices.Sorted(maps.Keys(s.relied)), ",") + "}")
	r := conn.PgConn().ExecParams(ctx, readKeptSQL, [][]byte{names, s.given[0]}, nil, []int16{pgx.TextFormatCode, pgx.BinaryFormatCode}, []int16{pgx.BinaryFormatCode}).Read()
	if r.Err != nil {
		return fmt.Errorf("read the session's settings: %w", r.Err)
	}
	s.kept = r.Rows[0]
	return nil
}

// Intact fails a transaction in which a trigger or a function changed a setting, because the
// meaning of later statements may have changed. It uses no table, because search_path may lead to
// another one: the error is that of a text that is not a number (22P02), and quotes the name of
// the setting.
var Intact = NewStatement("intact", `
SELECT ('`+intactPrefix+`' || name || '`+intactSuffix+`')::int FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS s (name, value)
WHERE pg_catalog.current_setting(name, true) IS DISTINCT FROM value LIMIT 1`)

const (
	intactPrefix = "idemgen: setting "
	intactSuffix = " is changed"
)

// Changed returns the setting that [Intact] found changed; "" if err is another error.
func Changed(pg *pgconn.PgError) string {
	_, rest, found := strings.Cut(pg.Message, intactPrefix)
	name, _, ends := strings.Cut(rest, intactSuffix)
	if pg.Code != "22P02" || !found || !ends {
		return ""
	}
	return name
}

// Kept returns the parameters of [Intact].
func (s *Session) Kept() [][]byte { return s.kept }

// Reset and then Give undo changes of the session's settings.
var (
	Reset = NewStatement("reset", `RESET ALL`)
	Give  = NewStatement("give", `
SELECT pg_catalog.count(pg_catalog.set_config(name, value, false))
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS s (name, value)`)
)

// ByIndex forbids sequential scans until the end of the transaction. It comes before statements
// that look rows up by their keys in a table that begins empty and grows fast: a plan that was
// cached in the beginning would read the whole table, until the next ANALYZE.
var ByIndex = NewStatement("by_index", `SELECT pg_catalog.set_config('enable_seqscan', 'off', true)`)

// Given returns the parameters of [Give]: all settings that were made when the session was opened.
func (s *Session) Given() [][]byte { return s.given }

// Statement is a statement that is prepared on every connection, under a name that contains a hash
// of its text, so a name never stands for two texts.
type Statement struct {
	Label string // suffix of its name, for operators who read the server's views
	SQL   string
	hash  string
}

// NewStatement returns a statement.
func NewStatement(label, sql string) Statement {
	sum := sha256.Sum256([]byte(sql))
	return Statement{Label: label, SQL: sql, hash: hex.EncodeToString(sum[:8])}
}

// Write returns a statement of the spec.
func Write(sql string) Statement { return NewStatement("write", sql) }

// Name returns the statement's name in the session. Another session does not have this name, so if
// a pooler sends the statement there, it fails (26000).
func (s *Session) Name(st Statement) string {
	return "idem_" + st.hash + "_" + s.mark[:10] + "_" + st.Label
}

// Prepare prepares statements in one round trip. If one fails, it returns how many succeeded.
func (s *Session) Prepare(ctx context.Context, conn *pgconn.PgConn, statements []Statement) (prepared int, err error) {
	p := conn.StartPipeline(ctx)
	for _, st := range statements {
		p.SendPrepare(s.Name(st), st.SQL, nil)
	}
	err = p.Sync()
	for prepared < len(statements) && err == nil {
		if _, err = p.GetResults(); err == nil {
			prepared++
		}
	}
	return prepared, errors.Join(err, p.Close())
}

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
	if is { // else other goroutines of a handler may read the map
		delete(conn.CustomData(), unreplicatedKey)
	}
	return is
}
