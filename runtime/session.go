package idem

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pgerror"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/session"
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
	//lint:ignore SA1019 services may still set BeforeAcquire
	cfg.BeforeAcquire, cfg.PrepareConn, cfg.AfterRelease = nil, nil, nil // they may end what is prepared
	open := c.opening(cfg, nil)
	cfg.ConnConfig.BuildContextWatcherHandler = endOnServer
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := open(ctx, conn); err != nil {
			return err
		}
		return c.prepare(ctx, conn)
	}
	p, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("idem: %w", err)
	}
	if err := c.check(ctx, p); err != nil {
		p.Close()
		return nil, err
	}
	c.sessions = p
	return p, nil
}

// check finds out whether the database and what stands before it are as the runtime needs
// them. It takes a bare connection first, because on the pool's the statements would fail to
// prepare.
func (c *Consumer) check(ctx context.Context, p *pgxpool.Pool) error {
	bare, err := c.connectBeside(ctx, nil)
	if err != nil {
		return fmt.Errorf("idem: connect to the database: %w", err)
	}
	defer bare.Close(context.WithoutCancel(ctx))
	if err := c.checkSchema(ctx, bare); err != nil {
		return err
	}
	conn, err := p.Acquire(ctx) // prepares every statement: a missing migration shows now
	if err != nil {
		return fmt.Errorf("idem: %w", session.Explain(err))
	}
	defer conn.Release()
	if err := session.Probe(ctx, conn.Conn(), bare); err != nil {
		return fmt.Errorf("idem: %w", err)
	}
	return nil
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

// opening prepares a configuration for connections of the runtime, and returns what gives
// each of them its session, some of it with other values than the pool's.
func (c *Consumer) opening(cfg *pgxpool.Config, other map[string]string) func(context.Context, *pgx.Conn) error {
	l := c.service.Limits
	o := session.Options{
		Asked: maps.Clone(cfg.ConnConfig.RuntimeParams), Hook: cfg.AfterConnect,
		Settings: session.With(session.Relied(session.Limits{
			Lock: c.lockTimeout(), Statement: l.StatementTimeout, Idle: l.EventTimeout + 5*time.Second, Transaction: l.BatchTimeout,
		}), other),
	}
	session.Configure(cfg.ConnConfig)
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	wrapDial(&cfg.ConnConfig.Config)
	noteErrors(cfg.ConnConfig)
	return func(ctx context.Context, conn *pgx.Conn) error { return session.Open(ctx, conn, o) }
}

// prepare prepares every statement, explicitly: the driver's cache would be dropped after
// each failed batch, and a batch would then take three round trips.
func (c *Consumer) prepare(ctx context.Context, conn *pgx.Conn) error {
	if err := c.survey(ctx, conn); err != nil {
		return err
	}
	s := session.Of(conn.PgConn())
	own := slices.Concat(prepared, generation.Statements)
	if n, err := s.Prepare(ctx, conn.PgConn(), own); err != nil {
		return fmt.Errorf("prepare the statement %s: %w", own[min(n, len(own)-1)].Label, err)
	}
	done := map[string]bool{}
	for _, t := range c.service.Topics {
		var all []session.Statement
		for _, sql := range t.Statements {
			if !done[sql] { // two topics may write one table alike
				all = append(all, userStatement(sql))
			}
			done[sql] = true
		}
		if n, err := s.Prepare(ctx, conn.PgConn(), all); err != nil {
			return fmt.Errorf("prepare statement %d of topic %s (are all migrations applied?): %w", n+1, t.Name, err)
		}
	}
	return nil
}

// userStatement is a statement of the spec's.
func userStatement(sql string) session.Statement { return session.NewStatement("write", sql) }

// checkSchema compares the version of the runtime's tables with what the code needs.
func (c *Consumer) checkSchema(ctx context.Context, conn *pgx.Conn) error {
	version := 0
	err := conn.QueryRow(ctx, `SELECT max(version) FROM idem_schema`).Scan(&version)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "42P01" {
		err = nil // version 0: nothing was applied
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "42501" {
		return fmt.Errorf("idem: the service's role may not read the runtime's tables: grant it what \"Roles and rights\" in idemgen's docs/operations.md lists: %w", err)
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
		if _, final := errors.AsType[*session.Error](err); final {
			return err
		}
		if e := pgerror.Of(err).Event(); e == protocol.Fatal || e == protocol.Data {
			return err
		}
		c.run.Set(c.log, fmt.Errorf("the database was not reached since the start: %w", &outage.Unreachable{Err: err}))
		if !sleep(ctx, backoff(attempt, waitInitial, startMost)) {
			return ctx.Err()
		}
	}
}
