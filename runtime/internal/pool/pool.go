// Package pool opens and manages the runtime's own connections. It checks that the database meets
// the runtime's requirements, configures the session of each connection and prepares every
// statement on it. The service's pool is never used or changed: only its configuration is read.
//
//	Open -> check: schema, pooler        Acquire -> a connection, or why there is none
//	     -> each connection: session,    Connect -> one that is not the pool's
//	        catalog, statements          Release -> back, unless a handler still has it
//
// It begins no transaction. It must not import any package of this module but backoff, catalog,
// internal/protocol, outage, pipeline, session, verdict and wire.
package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Pool manages the runtime's own connections, which are opened at first use.
type Pool struct {
	db         *pgxpool.Pool // the service's; only its configuration is used
	service    *wire.Service
	catalog    *catalog.Current
	statements []session.Statement // of the runtime

	durability durability

	mu       sync.Mutex
	sessions *pgxpool.Pool // with their settings; guarded by mu
	closed   bool          // until Begin; guarded by mu
}

// New returns a pool whose connections have statements prepared, and the service's own statements.
func New(db *pgxpool.Pool, service *wire.Service, known *catalog.Current, statements []session.Statement) *Pool {
	return &Pool{db: db, service: service, catalog: known, statements: slices.Concat(statements, restoring, []session.Statement{session.ByIndex})}
}

// Open returns the connections, which it creates at first use. They have the settings that the
// protocol relies on (docs/protocol.md), so the service's pool need not be changed.
func (p *Pool) Open(ctx context.Context) (*pgxpool.Pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions != nil {
		return p.sessions, nil
	}
	if p.closed {
		return nil, errClosed
	}
	cfg := p.db.Config()
	cfg.MinConns, cfg.MinIdleConns = 0, 0
	cfg.PingTimeout = cmp.Or(cfg.PingTimeout, pingTimeout)
	//lint:ignore SA1019 services may still set BeforeAcquire
	cfg.BeforeAcquire, cfg.PrepareConn, cfg.AfterRelease = nil, nil, nil // they may remove prepared statements
	open := p.opening(cfg, nil)
	cfg.ConnConfig.BuildContextWatcherHandler = endOnServer
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		// pgxpool itself has no timeout: a server that stops responding now would occupy a
		// connection forever.
		ctx, cancel := context.WithTimeout(ctx, p.service.Limits.BatchTimeout)
		defer cancel()
		if err := open(ctx, conn); err != nil {
			return err
		}
		err := p.prepare(ctx, conn)
		if conn.IsClosed() {
			return err
		}
		// A statement calls the functions that existed when it was prepared, so the check comes
		// after that. A planted function may also be why preparing failed.
		planted := catalog.CheckPlanted(ctx, conn)
		if _, refused := errors.AsType[*catalog.RefusedError](planted); refused || err == nil {
			return planted
		}
		return err
	}
	sessions, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("idem: %w", err)
	}
	if err := p.check(ctx, sessions); err != nil {
		sessions.Close()
		return nil, err
	}
	p.sessions = sessions
	return sessions, nil
}

// Reset replaces every connection when it is next needed: this server is read-only, and another
// one is the primary.
func (p *Pool) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sessions != nil {
		p.sessions.Reset()
	}
}

var errClosed = errors.New("the run has ended")

// Begin permits connections again after Close.
func (p *Pool) Begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
}

// Close closes the connections. Until Begin, no later use opens new ones: a call of an effect may
// outlive its run.
func (p *Pool) Close() {
	p.mu.Lock()
	sessions := p.sessions
	p.sessions, p.closed = nil, true
	p.mu.Unlock()
	if sessions != nil {
		sessions.Close()
	}
}

// connectTimeout limits the time to establish one connection, unless the service's pool has
// another limit. Without a limit, a server that does not respond would not be noticed for a long
// time.
const connectTimeout = 5 * time.Second

// pingTimeout limits the time in which a connection that was idle must answer before it is used,
// unless the service's pool has another limit. Then it is closed, and another one is tried.
const pingTimeout = 3 * time.Second

// opening prepares a configuration for connections of the runtime. It returns a function that
// configures the session of each, with some settings that differ from those of the pool.
func (p *Pool) opening(cfg *pgxpool.Config, other map[string]string) func(context.Context, *pgx.Conn) error {
	l := p.service.Limits
	o := session.Options{
		Asked: maps.Clone(cfg.ConnConfig.RuntimeParams), Hook: cfg.AfterConnect,
		Settings: session.With(session.Relied(session.Limits{
			Lock: LockWait(l.LockTimeout, l.StatementTimeout), Statement: l.StatementTimeout, Idle: l.EventTimeout + 5*time.Second, Transaction: l.BatchTimeout,
		}), other),
	}
	session.Configure(cfg.ConnConfig)
	before := cfg.BeforeConnect
	cfg.BeforeConnect = func(ctx context.Context, to *pgx.ConnConfig) error {
		if before != nil {
			if err := before(ctx, to); err != nil {
				return err
			}
		}
		if to.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol { // a text could contain several statements
			to.DefaultQueryExecMode = pgx.QueryExecModeExec
		}
		return nil
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	wrapDial(&cfg.ConnConfig.Config)
	noteErrors(cfg.ConnConfig)
	session.WatchReplication(&cfg.ConnConfig.Config, p.Doubt)
	return func(ctx context.Context, conn *pgx.Conn) error { return session.Open(ctx, conn, o) }
}

// LockWait returns the lock timeout: the limit for locks or, if that is less, half of most. If the
// wait lasted until most, its error would not say that it was for a lock. LockWait never returns
// zero, which would mean no limit.
func LockWait(lock, most time.Duration) time.Duration {
	return max(min(lock, most/2), time.Millisecond)
}

// Background opens a connection for background work, whose statements may take long. It does not
// take a connection from partitions.
func (p *Pool) Background(ctx context.Context) (*pgx.Conn, error) {
	return p.connect(ctx, map[string]string{"application_name": "idemgen upkeep", "statement_timeout": "0", "transaction_timeout": "0"})
}

// Report opens a connection on which a process reports itself. Its statements give up soon, and do
// not wait for the disk or for a standby: a report that is lost is written again.
func (p *Pool) Report(ctx context.Context) (*pgx.Conn, error) {
	return p.connect(ctx, map[string]string{
		"application_name": "idemgen report", "lock_timeout": "1000", "statement_timeout": "2000", "synchronous_commit": "off",
	})
}

// Connect opens a connection outside the pool, in which all connections may be in use.
func (p *Pool) Connect(ctx context.Context) (*pgx.Conn, error) { return p.connect(ctx, nil) }

// connect opens a connection outside the pool. It uses the hooks of the service's pool, such as
// one that provides the current password. Its settings are those of the pool's connections,
// except where settings has others. Nothing is prepared on it. The error is a
// [catalog.RefusedError] if functions or operators were planted.
func (p *Pool) connect(ctx context.Context, settings map[string]string) (*pgx.Conn, error) {
	cfg := p.db.Config()
	open := p.opening(cfg, settings)
	if err := cfg.BeforeConnect(ctx, cfg.ConnConfig); err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, session.Explain(err)
	}
	if err := open(ctx, conn); err != nil {
		_ = conn.Close(ctx) // its settings are unknown
		return nil, err
	}
	if err := catalog.CheckPlanted(ctx, conn); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}
