package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connect opens connections to the primary. They are named differently than a worker's, so
// that no worker ends one of them as a stalled one of its own.
func (s *streamCall) connect(ctx context.Context) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(s.database)
	if err != nil { // not told: it may quote the password
		return nil, errors.New("--database, or $DATABASE_URL, is no address of a database: write postgres://user@host:5432/name")
	}
	cfg.MaxConns = 1
	cfg.ConnConfig.RuntimeParams["application_name"] = "idemgen-stream"
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // a connection pooler may stand between
	cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	db, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, s.mask(err)
	}
	if err := db.Ping(ctx); err != nil {
		db.Close()
		return nil, s.mask(fmt.Errorf("connect to the database: %w", err))
	}
	return db, nil
}

// mask takes the database's address and password out of an error.
func (s *streamCall) mask(err error) error {
	text := strings.ReplaceAll(err.Error(), s.database, "the database")
	if cfg, parsed := pgx.ParseConfig(s.database); parsed == nil && cfg.Password != "" {
		text = strings.ReplaceAll(text, cfg.Password, "xxxxx")
	}
	return errors.New(text)
}

// print prints a result; none is printed as nothing.
func (c *call) print(r result, asJSON bool) error {
	if r == nil {
		return nil
	}
	if !asJSON {
		_, err := fmt.Fprint(c.stdout, r.text())
		return err
	}
	e := json.NewEncoder(c.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
