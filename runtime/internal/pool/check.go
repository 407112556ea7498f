package pool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// startMost is the longest pause between two attempts to start.
const startMost = time.Second

// Start connects to the database and checks it, and waits out an outage. wait is called with the
// reason.
func (p *Pool) Start(ctx context.Context, wait func(error)) error {
	for attempt := 1; ; attempt++ {
		_, err := p.Open(ctx)
		if err == nil || final(err) {
			return err
		}
		wait(fmt.Errorf("the database has not been reached since the start: %w", &outage.Unreachable{Err: err}))
		if !backoff.Sleep(ctx, backoff.Pause(attempt, backoff.Initial, startMost)) {
			return ctx.Err()
		}
	}
}

// final reports whether an operator must act before the service can start.
func final(err error) bool {
	if _, refused := errors.AsType[*catalog.RefusedError](err); refused {
		return true
	}
	if _, pooler := errors.AsType[*session.Error](err); pooler {
		return true
	}
	e := verdict.Of(err).Event()
	return e == protocol.Fatal || e == protocol.Data
}

// check checks whether the database, and a connection pooler in front of it, meet the runtime's
// requirements. It opens a plain connection first, because a connection of the pool would fail to
// prepare the statements.
func (p *Pool) check(ctx context.Context, sessions *pgxpool.Pool) error {
	bare, err := p.Connect(ctx)
	if err != nil {
		return fmt.Errorf("idem: connect to the database: %w", outage.WithoutAddress(err))
	}
	defer bare.Close(context.WithoutCancel(ctx))
	if err := catalog.CheckRuntime(ctx, bare, p.service.Schema); err != nil {
		return fmt.Errorf("idem: %w", err)
	}
	if err := catalog.CheckTables(ctx, bare, p.service); err != nil {
		return fmt.Errorf("idem: %w", err)
	}
	conn, err := sessions.Acquire(ctx) // prepares every statement, so a missing migration is detected now
	if err != nil {
		return fmt.Errorf("idem: %w", session.Explain(err))
	}
	defer conn.Release()
	if err := session.Probe(ctx, conn.Conn(), bare); err != nil {
		return fmt.Errorf("idem: %w", err)
	}
	return nil
}

// prepare prepares every statement explicitly. The driver would drop its cache after each failed
// batch, and the next batch would take three round trips.
func (p *Pool) prepare(ctx context.Context, conn *pgx.Conn) error {
	if err := p.catalog.AskAtOpening(ctx, conn); err != nil {
		return err
	}
	if p.service.Schema["effects"] > 0 {
		if err := p.catalog.MoveFence(ctx, conn); err != nil {
			return err
		}
	}
	s := session.Of(conn.PgConn())
	if n, err := s.Prepare(ctx, conn.PgConn(), p.statements); err != nil {
		return preparing("idemgen's own tables", p.statements[min(n, len(p.statements)-1)], err)
	}
	done := map[string]bool{}
	for _, t := range p.service.Topics {
		var all []session.Statement
		for _, sql := range t.Statements() {
			if !done[sql] { // two topics may have the same statement
				all = append(all, session.Write(sql))
			}
			done[sql] = true
		}
		if n, err := s.Prepare(ctx, conn.PgConn(), all); err != nil {
			return preparing("topic "+t.Name, all[min(n, len(all)-1)], err)
		}
	}
	return nil
}

// target returns the table that a statement writes.
var target = regexp.MustCompile(`\b(?:INSERT INTO|UPDATE|DELETE FROM) ("[^"]+"(?:\."[^"]+")?|[\w.]+)`)

// preparing returns the error of a statement that could not be prepared. If the server had to
// wait, its table is locked, so the error names the table.
func preparing(of string, st session.Statement, err error) error {
	if verdict.Of(err) == verdict.LockWait {
		table := "a table"
		if m := target.FindStringSubmatch(st.SQL); m != nil {
			table = "table " + m[1]
		}
		return &outage.Locked{Table: table, Err: err}
	}
	return fmt.Errorf("prepare the statement %s of %s (are all migrations applied?): %w", st.Label, of, err)
}
