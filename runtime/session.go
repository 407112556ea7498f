package idem

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
)

// pool returns the runtime's own connections, made at first use. They carry the settings
// that the protocol rests on (docs/protocol.md), so the service's pool stays as it is.
func (c *Consumer) pool(ctx context.Context) (*pgxpool.Pool, error) {
	c.connecting.Lock()
	defer c.connecting.Unlock()
	if c.sessions != nil {
		return c.sessions, nil
	}
	cfg := c.db.Config()
	cfg.MinConns, cfg.MinIdleConns = 0, 0
	cfg.BeforeAcquire, cfg.PrepareConn, cfg.AfterRelease = nil, nil, nil // they may end what is prepared
	c.settings(cfg.ConnConfig)
	wrapDial(&cfg.ConnConfig.Config)
	noteErrors(cfg.ConnConfig)
	cfg.ConnConfig.BuildContextWatcherHandler = endOnServer
	before := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if before != nil {
			if err := before(ctx, conn); err != nil {
				return err
			}
		}
		return c.prepare(ctx, conn)
	}
	p, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("idem: %w", err)
	}
	if err := c.checkSchema(ctx); err != nil {
		p.Close()
		return nil, err
	}
	conn, err := p.Acquire(ctx) // prepares every statement: a missing migration shows now
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("idem: %w", err)
	}
	conn.Release()
	c.sessions = p
	return p, nil
}

// reconnect has every connection opened anew when it is needed next: this server takes no
// writes, and the primary is another one.
func (c *Consumer) reconnect() {
	c.connecting.Lock()
	defer c.connecting.Unlock()
	if c.sessions != nil {
		c.sessions.Reset()
	}
}

// Close ends the connections that the runtime opened. [Consumer.Run] does it itself;
// programs that call [Consumer.Own] do it when they are done. A later use opens new ones.
func (c *Consumer) Close() {
	c.connecting.Lock()
	p := c.sessions
	c.sessions = nil
	c.connecting.Unlock()
	c.filters.Close()
	if p != nil {
		p.Close()
	}
}

func (c *Consumer) settings(cfg *pgx.ConnConfig) {
	l := c.service.Limits
	for name, value := range map[string]string{
		"application_name":                    "idemgen",
		"default_transaction_isolation":       "read committed",
		"default_transaction_deferrable":      "off",
		"synchronous_commit":                  "on",
		"lock_timeout":                        millis(l.LockTimeout),
		"statement_timeout":                   millis(l.StatementTimeout),
		"idle_in_transaction_session_timeout": millis(l.EventTimeout + 5*time.Second),
		"tcp_user_timeout":                    "20000",
		"tcp_keepalives_idle":                 "10",
		"tcp_keepalives_interval":             "5",
		"tcp_keepalives_count":                "3",
	} {
		cfg.RuntimeParams[name] = value
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	cfg.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// optionalSettings are set where the server knows them: Postgres 17 and later, and
// servers on Linux.
func (c *Consumer) optionalSettings() map[string]string {
	return map[string]string{
		"transaction_timeout":              millis(c.service.Limits.BatchTimeout),
		"client_connection_check_interval": "5000",
	}
}

// prepare prepares every statement, explicitly: the driver's cache would be dropped after
// each failed batch, and a batch would then take three round trips.
func (c *Consumer) prepare(ctx context.Context, conn *pgx.Conn) error {
	for name, value := range c.optionalSettings() {
		_, err := conn.PgConn().ExecParams(ctx, "SELECT set_config($1, $2, false)", [][]byte{[]byte(name), []byte(value)}, nil, nil, nil).Close()
		if _, refused := errors.AsType[*pgconn.PgError](err); err != nil && !refused {
			return err
		}
	}
	if err := c.survey(ctx, conn); err != nil {
		return err
	}
	if err := remember(ctx, conn); err != nil {
		return err
	}
	for _, s := range prepared {
		if _, err := conn.PgConn().Prepare(ctx, s.name, s.sql, nil); err != nil {
			return fmt.Errorf("prepare %s: %w", s.name, err)
		}
	}
	for _, s := range generation.Statements {
		if _, err := conn.PgConn().Prepare(ctx, s.Name, s.SQL, nil); err != nil {
			return fmt.Errorf("prepare %s: %w", s.Name, err)
		}
	}
	for n, t := range c.service.Topics {
		for i, sql := range t.Statements {
			if _, err := conn.PgConn().Prepare(ctx, statementName(n, i), sql, nil); err != nil {
				return fmt.Errorf("prepare statement %d of topic %s (are all migrations applied?): %w", i+1, t.Name, err)
			}
		}
	}
	return nil
}

// statementName does not hold the topic's name: the server cuts a name at 63 bytes.
func statementName(topic, i int) string { return fmt.Sprintf("idem_%d_%d", topic, i) }

// checkSchema compares the version of the runtime's tables with what the code needs. It
// uses a bare connection, because on the pool's the statements would fail to prepare.
func (c *Consumer) checkSchema(ctx context.Context) error {
	conn, err := c.connectBeside(ctx, nil)
	if err != nil {
		return fmt.Errorf("idem: connect to the database: %w", err)
	}
	defer conn.Close(ctx)
	version := 0
	err = conn.QueryRow(ctx, `SELECT max(version) FROM idem_schema`).Scan(&version)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "42P01" {
		err = nil // version 0: nothing was applied
	}
	if err != nil {
		return fmt.Errorf("idem: read the version of the runtime's tables: %w", err)
	}
	if want := c.service.Schema; version < want {
		return &schemaError{have: version, want: want}
	}
	return nil
}

// schemaError is final: a person must apply a file.
type schemaError struct{ have, want int }

func (e *schemaError) Error() string {
	text := fmt.Sprintf("idem: the database has version %d of the runtime's tables, this service needs %d: apply, in their order, all migrations up to the one whose name ends with _idem_%d.sql",
		e.have, e.want, e.want)
	if e.have == 0 {
		text += "; the first of them ends with _idem_1.sql"
	}
	return text
}

// startMost is the longest pause between two tries at the start.
const startMost = time.Second

// start connects and checks, waiting out a database that is away.
func (c *Consumer) start(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		_, err := c.pool(ctx)
		if err == nil {
			return nil
		}
		if _, final := errors.AsType[*schemaError](err); final || refusedDatabase(err) {
			return err
		}
		if e := classify(err).event(); e == protocol.Fatal || e == protocol.Data {
			return err
		}
		c.run.Set(c.log, fmt.Errorf("the database was not reached since the start: %w", &unreachable{err}))
		if !sleep(ctx, backoff(attempt, waitInitial, startMost)) {
			return ctx.Err()
		}
	}
}
